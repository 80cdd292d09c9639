# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A certificate that nobody signed, and what makes browsers take it."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

from testbed import program, scratch


class Certificate:
    """For a server at an address, for a day."""

    def __init__(self, address: str) -> None:
        folder = scratch("certificate")
        self.file, self.key = folder / "site.pem", folder / "site.key"
        kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
        name = ["-subj", "/CN=netnice", "-addext", f"subjectAltName=IP:{address}"]
        _openssl("req", *kind, *name, "-keyout", self.key, "-out", self.file)

    def settings(self) -> str:
        """For the proxy's configuration file."""
        return f'[tls]\ncertificate = "{self.file}"\nkey = "{self.key}"\n'

    def hash(self) -> str:
        """SHA-256 of its public key, as Chromium wants it."""
        public = _openssl("pkey", "-in", self.key, "-pubout", "-outform", "DER")
        return base64.b64encode(hashlib.sha256(public).digest()).decode()


def _openssl(*words: str | Path) -> bytes:
    return subprocess.run([program("openssl"), *words], check=True, capture_output=True).stdout

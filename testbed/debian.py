# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The files of a small Debian, to be the lower layer of roots that tests write to."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from testbed.programs import program


def debian(included: Sequence[str], fetched: Sequence[str] = (), without: Sequence[str] = ()) -> Path:
    """With the packages ``included``, and ``fetched`` but not installed; never written to.

    ``without`` are folders of /usr/share that stay empty. Kept in the user's cache: the first call of all takes a
    minute or two.
    """
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
    recipe = hashlib.sha256(f"{included} {fetched} {without}".encode()).hexdigest()[:8]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netnice" / "packages"
    folder = cache / f"{suite}-{recipe}"
    if not folder.is_dir():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        cache.mkdir(parents=True, exist_ok=True)
        words = ["--quiet", "--variant=apt", f"--include={','.join(included)}", "--skip=cleanup/apt"]
        words += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in without]
        if fetched:
            fetch = f'chroot "$1" apt-get -q -y --download-only --no-install-recommends install {" ".join(fetched)}'
            words.append(f"--customize-hook={fetch}")
        subprocess.run([program("mmdebstrap"), *words, suite, unfinished], check=True, timeout=280)
        unfinished.rename(folder)
    return folder

# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Chromium and Firefox without a screen, inside a network namespace, each with a fresh profile; and a certificate.

WebDriver BiDi drives both alike: JSON over a WebSocket.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from testbed import Namespace, TestbedError, program, scratch
from testbed.namespace import free_port, listens, wait_until
from testbed.ownership import Owned

_CLONE_NEWNET = 0x40000000
_PATIENCE = 30.0
_START = 60.0
_LOAD = 30.0
#: ms that a finger stays on the button of a mouse.
_PRESS = 80
_TIMING = """(() => {
  const n = performance.getEntriesByType("navigation")[0];
  return JSON.stringify({path: location.pathname, load: n.loadEventEnd});
})()"""
#: Nothing that talks to its maker; how it fetches and keeps pages is left as users have it.
_FIREFOX = """\
user_pref("app.normandy.enabled", false);
user_pref("browser.safebrowsing.downloads.remote.enabled", false);
user_pref("browser.safebrowsing.provider.mozilla.updateURL", "");
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


def inside(namespace: Namespace, port: int) -> socket.socket:
    """A connection to a port of the namespace's loopback, for this process outside."""
    made: list[socket.socket | Exception] = []

    def enter() -> None:
        try:
            with namespace.file.open() as handle:
                if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), _CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(namespace.file))
            made.append(socket.create_connection(("127.0.0.1", port), _PATIENCE))
        except Exception as e:
            made.append(e)

    # A namespace is a thread's: this one ends in there.
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if isinstance(made[0], Exception):
        raise made[0]
    return made[0]


class Bidi:
    """A browser that takes commands; what it tells of its own accord is kept in ``events``."""

    def __init__(self, namespace: Namespace, port: int, path: str) -> None:
        from websockets.sync.client import connect  # here: only this tier's environment has it

        # proxy=None: the caller's own http_proxy is not the namespace's.
        connection = connect(
            f"ws://127.0.0.1:{port}{path}",
            sock=inside(namespace, port),
            proxy=None,
            compression=None,
            max_size=None,
            open_timeout=_PATIENCE,
        )
        self._parts = contextlib.ExitStack()
        self._socket = self._parts.enter_context(connection)
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to a command; an error of its own is a :class:`TestbedError`."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        deadline = time.monotonic() + _PATIENCE
        while True:
            said = json.loads(self._socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            if said.get("type") == "event":
                self.events.append(said)
            elif said.get("id") == self._number:
                break
        if said["type"] == "error":
            raise TestbedError(f"the browser refuses {method}: {said['error']}: {said['message']}")
        result: dict[str, Any] = said["result"]
        return result

    def close(self) -> None:
        self._parts.close()


class Browser(Owned):
    """A browser that a test drives as a user would: it opens pages, reads them and clicks."""

    name = ""

    def __init__(self, namespace: Namespace, *, trusted: str = "", quic: str = "", under: Sequence[str] = ()) -> None:
        """``trusted`` is the SPKI hash of a certificate without a signer, ``quic`` a host for whose QUIC it is good
        too, ``under`` are words that start it.
        """
        super().__init__()
        self.namespace, self.trusted, self.quic, self.under = namespace, trusted, quic, under
        self.folder = scratch("browser")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        with self._making():
            self.bidi = self._start()
            self._parts.callback(self._close)
            self._context = self.bidi.call("browsingContext.getTree")["contexts"][0]["context"]

    def _start(self) -> Bidi:
        raise NotImplementedError

    def _spawn(self, port: int, *words: str | Path) -> None:
        process = self.namespace.spawn(*self.under, *words, env={"HOME": str(self.folder)}, stderr=None)
        self._parts.push(process)
        wait_until(lambda: listens(self.namespace, port), self.name, process=process, seconds=_START)

    def _close(self) -> None:
        with contextlib.suppress(Exception):  # it may have died; its process is ended in any case
            self.bidi.call("browser.close")
        self.bidi.close()

    def open(self, url: str) -> None:
        """Goes to an address, and waits until it is loaded."""
        self.bidi.call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """A number or string that the page's own script language makes of ``expression``."""
        where = {"context": self._context}
        said = self.bidi.call("script.evaluate", expression=expression, target=where, awaitPromise=True)
        if said["type"] != "success":
            raise TestbedError(f"{expression}: {said['exceptionDetails']['text']}")
        return said["result"].get("value")

    def type(self, selector: str, text: str) -> None:
        """Writes into a field of a form."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}")

    def click(self, selector: str) -> None:
        """A real click of the mouse on the first such element."""
        locator = {"type": "css", "value": selector}
        nodes = self.bidi.call("browsingContext.locateNodes", context=self._context, locator=locator)["nodes"]
        if not nodes:
            raise TestbedError(f"the page has no {selector}: {self.evaluate('document.body.innerText')}")
        element = {"type": "element", "element": {"sharedId": nodes[0]["sharedId"]}}
        steps: list[dict[str, Any]] = [{"type": "pointerMove", "x": 0, "y": 0, "origin": element}]
        steps += [{"type": "pointerDown", "button": 0}, {"type": "pause", "duration": _PRESS}]
        steps += [{"type": "pointerUp", "button": 0}]
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        self.bidi.call("input.performActions", context=self._context, actions=[mouse])

    def follow(self, selector: str, path: str) -> float:
        """Clicks, and waits until ``path`` is loaded: the ms from one to the other, as the browser itself has it."""
        self.click(selector)
        deadline = time.monotonic() + _LOAD
        while time.monotonic() < deadline:
            with contextlib.suppress(TestbedError):  # between two pages nothing answers
                now = json.loads(self.evaluate(_TIMING))
                if now["path"] == path and now["load"] > 0:
                    return float(now["load"])
            time.sleep(0.05)
        raise TestbedError(f"{self.name} did not come to {path} within {_LOAD:g} s")

    def send_always(self, name: str, value: str) -> None:
        """A header of every request from now on."""
        header = {"name": name, "value": {"type": "string", "value": value}}
        self.bidi.call("network.setExtraHeaders", headers=[header], contexts=[self._context])

    def listen(self) -> None:
        """From now on :meth:`replies` knows all."""
        self.bidi.call("session.subscribe", events=["network.responseCompleted"])

    def replies(self) -> list[tuple[str, dict[str, str]]]:
        """Address and headers, their names in small letters, of all replies that the browser had since it listens."""
        self.evaluate("0")  # what it told before comes before its answer
        heard = [e["params"] for e in self.bidi.events if e["method"] == "network.responseCompleted"]
        return [
            (p["request"]["url"], {h["name"].lower(): h["value"].get("value", "") for h in p["response"]["headers"]})
            for p in heard
        ]


class Chromium(Browser):
    """Debian's, driven by chromedriver."""

    name = "chromium"

    def _start(self) -> Bidi:
        port = free_port(self.namespace)
        self._spawn(port, program("chromedriver"), f"--port={port}")
        # Root has no sandbox. Where all wrong certificates are ignored Chromium uses no prefetch; one may be.
        words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder / 'profile'}"]
        if self.trusted:
            words.append(f"--ignore-certificate-errors-spki-list={self.trusted}")
        if self.quic:  # by naming an unused port of it: its root may be unknown then, and QUIC is not forced
            words.append(f"--origin-to-force-quic-on={self.quic}:1")
        options = {"binary": program("chromium"), "args": words}
        wanted = {"webSocketUrl": True, "goog:chromeOptions": options}
        driver = http.client.HTTPConnection("127.0.0.1", port)
        driver.sock = inside(self.namespace, port)
        with contextlib.closing(driver):
            driver.request("POST", "/session", json.dumps({"capabilities": {"alwaysMatch": wanted}}))
            value = json.loads(driver.getresponse().read())["value"]
        if "error" in value:
            raise TestbedError(f"chromedriver starts no Chromium: {value['message']}")
        return Bidi(self.namespace, port, f"/session/{value['sessionId']}")


class Firefox(Browser):
    """Debian's, which speaks BiDi itself."""

    name = "firefox"

    def _start(self) -> Bidi:
        port = free_port(self.namespace)
        profile = self.folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text(_FIREFOX)
        words: list[str | Path] = ["--headless", "--no-remote", f"--remote-debugging-port={port}", "--profile", profile]
        self._spawn(port, program("firefox-esr"), *words)
        bidi = Bidi(self.namespace, port, "/session")
        bidi.call("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": bool(self.trusted)}})
        return bidi


BROWSERS: dict[str, Callable[..., Browser]] = {"chromium": Chromium, "firefox": Firefox}


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

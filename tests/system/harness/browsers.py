# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Chromium and Firefox without a screen, inside a network namespace, each with a fresh profile."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from system.harness.bidi import Bidi, inside
from testbed import Namespace, TestbedError, program, scratch
from testbed.namespace import free_port, listens, wait_until
from testbed.ownership import Owned

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


class Browser(Owned):
    """A browser that a test drives as a user would: it opens pages, reads them and clicks."""

    name = ""

    def __init__(self, namespace: Namespace, *, trusted: str = "", quic: str = "", under: Sequence[str] = ()) -> None:
        """``trusted`` is the SPKI hash of a certificate that nobody signed, ``quic`` a host for whose QUIC it is good
        too, ``under`` are words that start it.
        """
        super().__init__()
        self.namespace, self.trusted, self.quic, self.under = namespace, trusted, quic, under
        self.folder = scratch("browser")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
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
            with contextlib.suppress(TestbedError):  # between two pages there is nobody to ask
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

    def screenshot(self, file: Path) -> None:
        """What a user sees, as PNG."""
        said = self.bidi.call("browsingContext.captureScreenshot", context=self._context)
        file.write_bytes(base64.b64decode(said["data"]))


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
        if self.quic:  # by naming a port of it that nobody uses: its root may be unknown then, and QUIC is not forced
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

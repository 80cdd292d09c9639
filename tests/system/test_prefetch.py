# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""netnice-prefetch before a real web server: which congestion control each reply is sent on.

And as users meet it: Chromium and Firefox, a path of 40 ms, a site of pages and one with logins.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from measurements import Measure
from system.harness import site as pages
from system.harness.browsers import BROWSERS, Browser, Certificate, Chromium, Firefox
from system.harness.commands import PROGRAMS, Pair
from system.harness.site import Proxy
from testbed import Namespace, Nginx, program, scratch, sockets
from testbed import Path as Link
from testbed.namespace import free_port, listens, wait_until

PAIRS, COMPARED = 5, 3
#: s that a user looks at a page; Firefox begins to prefetch once it has nothing else to do.
READS = 2.0
#: s after which a page is clicked that tells of nothing: the connection's window is then as small as after READS.
LOOKS = 0.5
#: s after which impatient users click, bytes of what they then want, and ms that are a wait.
EARLY, LARGE, LONGEST = 0.6, 300_000, 3_000.0
#: ms until the proxy takes a prefetch for awaited.
DEADLINE = 10_000.0

pytestmark = pytest.mark.verify("browsers, which the quick tier's packages do not have, and real traffic")
SIZE = 800_000


class Street(NamedTuple):
    """A server's place and a home, 10 Mbit/s and 40 ms apart."""

    www: Namespace
    home: Namespace


@pytest.fixture
def street() -> Iterator[Street]:
    with Namespace("www") as www, Namespace("home") as home, Link(www, home, rate="10mbit", rtt="40ms"):
        yield Street(www, home)


def site(street: Street, size: int = 80_000) -> Nginx:
    """Pairs of pages that browsers may keep for an hour, and something large."""
    web = Nginx(street.www, {"large": 1 << 30}, fresh="1h")
    pages.write(web.folder / "www", PAIRS, size)
    return web


def visit(browser: Browser, proxy: Proxy, pair: int, reads: float) -> float:
    """Opens the first page of a pair, looks at it and clicks on the link to the second; the ms that this takes."""
    browser.open(proxy.url + pages.first(pair))
    time.sleep(reads)
    return browser.follow("#next", pages.second(pair))


def of_second_pages(requests: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """URL, and whether it was prefetched, of what was asked for after first pages."""
    return [(r["url"], r["prefetch"]) for r in requests if r["url"].startswith("/second")]


CASES = [("chromium", "link"), ("firefox", "link"), ("chromium", "speculation")]


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize(("name", "mode", "tls"), [*((*c, True) for c in CASES), *((*c, False) for c in CASES[:2])])
def test_a_prefetched_page_takes_half_the_time_and_no_request(
    name: str, mode: str, tls: bool, street: Street, measure: Measure
) -> None:
    certificate = Certificate(street.www.address) if tls else None
    without, ahead = [], []
    with (
        site(street) as web,
        BROWSERS[name](street.home, trusted=certificate.hash() if certificate else "") as browser,
        Proxy(street.www, web.port, "off", certificate=certificate) as plain,
        Proxy(street.www, web.port, mode, taught=pages.log(PAIRS), certificate=certificate) as proxy,
    ):
        for pair in range(COMPARED):
            without.append(visit(browser, plain, pair, LOOKS))
            ahead.append(visit(browser, proxy, pair, READS))
        requests = of_second_pages(proxy.requests())
    assert requests == [(pages.second(pair), True) for pair in range(COMPARED)]
    assert median(ahead) < median(without)
    what = f"a page prefetched by {name}, {mode}, {'TLS' if tls else 'HTTP'}, of its time otherwise"
    measure(what, median(ahead) / median(without), "×", most=0.5)


@contextmanager
def beside_a_download(name: str, street: Street) -> Iterator[tuple[Browser, int]]:
    """A browser, and the port of a site; the home's line is full, so that prefetches hardly arrive."""
    with site(street, LARGE) as web, street.home.spawn("curl", "-so", "/dev/null", web.url("large")):
        time.sleep(3)  # its first rounds leave room
        with BROWSERS[name](street.home) as browser:
            yield browser, web.port


def click_early(browser: Browser, *proxies: Proxy) -> list[list[float]]:
    """For each proxy the ms that clicks took on pages whose prefetch, if any, was on its way; until one has waited."""
    took: list[list[float]] = [[] for _ in proxies]
    for pair in range(PAIRS):
        for proxy, found in zip(proxies, took, strict=True):
            found.append(visit(browser, proxy, pair, EARLY))
        if any(found[-1] > LONGEST for found in took):
            break
    for proxy, found in zip(proxies, took, strict=True):
        begun = [ahead for _, ahead in of_second_pages(proxy.requests())]
        assert proxy.mode == "off" or begun.count(True) > len(found) / 2, "nothing was on its way"
    return took


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("name", BROWSERS)
def test_no_click_waits_for_a_prefetch_of_an_element(name: str, street: Street, measure: Measure) -> None:
    with (
        beside_a_download(name, street) as (browser, port),
        Proxy(street.www, port, "off") as plain,
        Proxy(street.www, port, "rewrite", taught=pages.log(PAIRS)) as proxy,
    ):
        without, ahead = click_early(browser, plain, proxy)
    assert max(ahead) <= LONGEST
    measure(f"a click on an element's prefetch under way, by {name}", median(ahead) / median(without), "×", most=1)


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("name", BROWSERS)
def test_a_click_waits_for_a_prefetch_of_a_header_in_chromium_alone(name: str, street: Street) -> None:
    with (
        beside_a_download(name, street) as (browser, port),
        Proxy(street.www, port, "link", taught=pages.log(PAIRS)) as proxy,
    ):
        (took,) = click_early(browser, proxy)
    if name == "chromium":  # should this fail, Chromium has mended it, and the documentation is to say so
        assert LONGEST < max(took) <= DEADLINE + LONGEST
    else:
        assert max(took) <= LONGEST


@pytest.mark.usefixtures("up")
@pytest.mark.parametrize("name", BROWSERS)
def test_who_saves_data_is_told_nothing(name: str, street: Street) -> None:
    with (
        site(street) as web,
        BROWSERS[name](street.home) as browser,
        Proxy(street.www, web.port, "link", taught=pages.log(PAIRS)) as proxy,
    ):
        visit(browser, proxy, 0, READS)
        browser.send_always("Save-Data", "on")
        browser.listen()
        for pair in range(1, PAIRS):
            browser.open(proxy.url + pages.first(pair))
        time.sleep(READS)
        replies = browser.replies()
        requests = proxy.requests()
    assert [url for r in requests for url in r.get("hints", [])] == [pages.second(0)], "only before it saved data"
    assert of_second_pages(requests) == [(pages.second(0), True)]
    assert {urlsplit(url).path for url, _ in replies} >= {pages.first(pair) for pair in range(1, PAIRS)}
    assert not [url for url, headers in replies if hinted(headers)]


def hinted(headers: dict[str, str]) -> str:
    """What a reply's headers tell a browser to fetch."""
    return headers.get("link", "") + headers.get("speculation-rules", "")


PUBLIC = ["/about/", "/news/"]
PRIVATE = ["/members/", "/members/minutes/", "/admin/", "/admin/auth/user/"]


@pytest.fixture
def members(street: Street) -> Iterator[int]:
    """The port of a site with logins: programs/members.py."""
    port = free_port(street.www)
    words = (sys.executable, PROGRAMS / "members.py", str(port), scratch("members"))
    server = street.www.spawn(*words, stderr=subprocess.DEVNULL)
    wait_until(lambda: listens(street.www, port), "Django", process=server, seconds=60)
    yield port
    server.end()


def walk(browser: Browser, proxy: Proxy, paths: list[str]) -> None:
    """From page to page by their links, with time to prefetch."""
    browser.open(proxy.url + paths[0])
    for path in paths[1:]:
        time.sleep(0.2)
        browser.follow(f'a[href="{path}"]', path)


def log_in(browser: Browser, proxy: Proxy, user: str) -> None:
    browser.open(f"{proxy.url}/members/")  # which leads to the login
    browser.type("#id_username", user)
    browser.type("#id_password", user)
    browser.follow("[type=submit]", "/members/")
    assert browser.evaluate("document.querySelector('#who').innerText") == user


@pytest.mark.usefixtures("up")
def test_nobody_is_told_of_pages_behind_a_login(street: Street, members: int) -> None:
    with Proxy(street.www, members, "link", "--clients", "1") as proxy, ExitStack() as open_browsers:
        heard = []
        users = {"alice": Chromium, "bob": Firefox}
        browsers = {user: open_browsers.enter_context(kind(street.home)) for user, kind in users.items()}
        for user, browser in browsers.items():
            browser.listen()
            walk(browser, proxy, PUBLIC)
            log_in(browser, proxy, user)
        for _ in range(2):
            for browser in browsers.values():
                walk(browser, proxy, [*PRIVATE[:2], *PUBLIC])
                walk(browser, proxy, ["/about/", *PRIVATE])
        for browser in browsers.values():
            heard += browser.replies()
        requests = proxy.requests()
        for path in PRIVATE:
            assert proxy.explain(path)["predicted_after"] == [], path
    told = [hinted(headers) for _, headers in heard if hinted(headers)]
    assert {urlsplit(url).path for url, _ in heard} >= {*PUBLIC, *PRIVATE}
    assert told, "what is public is told: it could have been otherwise"
    assert not [hint for hint in told if "/members" in hint or "/admin" in hint]
    assert not [url for url, headers in heard if hinted(headers) and urlsplit(url).path not in PUBLIC]
    assert {url for r in requests for url in r.get("hints", [])} <= set(PUBLIC)
    assert {r["url"] for r in requests if r["prefetch"]} <= set(PUBLIC)


PREFETCH = ("--header", "Sec-Purpose: prefetch")
FRESH_WINDOW = 10


@pytest.fixture
def files(pair: Pair) -> Iterator[str]:
    """The proxy's address before a site of two files that browsers may keep."""
    with Nginx(pair.a, {"next": SIZE, "demanded": SIZE}) as web:
        for name in ("next", "demanded"):
            os.utime(web.folder / "www" / name, (0, time.time() - 86_400))
        port = free_port(pair.a)
        store = scratch("prefetch") / "learned.redb"
        argv = (f"http://{pair.a4}:{web.port}", "--listen", f"{pair.a4}:{port}", "--store", str(store))
        proxy = pair.a.spawn(program("netnice-prefetch"), *argv)
        wait_until(lambda: listens(pair.a, port), "the proxy", process=proxy)
        yield f"http://{pair.a4}:{port}"


def sends_on(pair: Pair, files: str) -> list[tuple[str, float]]:
    """Congestion control and window of the proxy's connections to browsers."""
    port = int(files.rpartition(":")[2])
    found = sockets(pair.a, local_port=port)
    return [(s.congestion_control, s.number("cwnd")) for s in found if s.state == "ESTAB"]


@pytest.mark.usefixtures("up")
def test_a_prefetch_is_sent_on_netnice_and_what_follows_is_not(pair: Pair, files: str) -> None:
    host, port = files.removeprefix("http://").split(":")
    browser = pair.end(pair.b, "browse", host, port, "/next", "/demanded")
    found: list[tuple[str, float]] = []
    for _ in range(2):
        assert browser.line() == f"200 {SIZE}\n"
        found += sends_on(pair, files)
        browser.signal(signal.SIGUSR1)
    assert [name for name, _ in found] == ["netnice", "cubic"]
    assert found[-1][1] >= FRESH_WINDOW, "the demanded reply inherits a small window"


@pytest.mark.usefixtures("down")
def test_without_netnice_it_still_serves(pair: Pair, files: str) -> None:
    pair.b.run("curl", "-sSf", "--output", "/dev/null", *PREFETCH, f"{files}/next")
    assert {name for name, _ in sends_on(pair, files)} <= {"cubic"}


def test_a_renewed_certificate_is_used_after_a_reload(street: Street) -> None:
    old, new = Certificate(street.www.address), Certificate(street.www.address)
    asks = "import ssl, sys; print(ssl.get_server_certificate((sys.argv[1], int(sys.argv[2]))))"
    with site(street) as web, Proxy(street.www, web.port, "off", certificate=old) as proxy:
        place = urlsplit(proxy.url)

        def served() -> str:
            return street.home.run(sys.executable, "-c", asks, str(place.hostname), str(place.port)).stdout.strip()

        assert served() == old.file.read_text().strip()
        for file, renewed in ((old.file, new.file), (old.key, new.key)):
            file.write_bytes(renewed.read_bytes())
        proxy.reload()
        wait_until(lambda: served() == new.file.read_text().strip(), "the renewed certificate")

# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A web cache between two paths."""

from __future__ import annotations

from testbed import Namespace, Nginx, Path, sockets


def test_a_cache_between_two_paths_asks_the_origin_once() -> None:
    with (
        Namespace("origin") as origin,
        Namespace("cache") as middle,
        Namespace("one") as one,
        Namespace("two") as two,
        Nginx(origin, {"file": 100_000}) as source,
        _path(middle, origin),
        Nginx(middle, {}, origin=source.url("")) as cache,
    ):
        urls = []
        with _path(one, middle):
            urls.append(cache.url("file"))
            assert _get(one, urls[0]) == "200 100000"
            with _path(two, middle):
                urls.append(cache.url("file"))
                source.process.end()
                assert _get(two, urls[1]) == "200 100000", "it kept the file, and its newest address is on this path"
                assert _get(two, cache.url("nosuchfile")).startswith("502 ")
        assert urls[0] != urls[1]
        assert not sockets(origin, local_port=source.port)


def _path(near: Namespace, far: Namespace) -> Path:
    return Path(near, far, rate="100mbit", rtt="1ms")


def _get(client: Namespace, url: str) -> str:
    words = ["--silent", "--max-time", "5", "--output", "/dev/null", "--write-out", "%{http_code} %{size_download}"]
    return client.run("curl", *words, url, check=False).stdout

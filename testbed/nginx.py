# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An nginx with files to fetch."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from testbed import ownership
from testbed.namespace import Namespace, wait_until
from testbed.ports import free_port, listens
from testbed.programs import program

_CONFIGURATION = """\
daemon off;
worker_processes 1;
user root;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type {kind};
    sendfile on;
    tcp_nopush on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    proxy_cache_path {folder}/cache keys_zone=files:1m max_size=4g use_temp_path=off;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {port} backlog=4096;
        {contents}
    }}
}}
"""
_FILES = "root {folder}/www; expires {fresh};"
_CACHE = """\
location / {{
            proxy_pass {origin};
            proxy_http_version 1.1;
            proxy_cache files;
            proxy_cache_key $uri;
            limit_rate $arg_limit;
            proxy_cache_valid 200 1h;
            proxy_cache_lock on;
            proxy_cache_lock_timeout 10m;
            proxy_cache_lock_age 10m;
        }}"""


class Nginx(ownership.Owned):
    """Serves ``files`` (name: bytes) from a namespace, on a free port; Range requests work.

    The files are all zeros and take no space: nginx as set up here does not compress. All are said to be of one
    ``kind``. With an ``origin`` (the start of an URL) it is a cache of what is there instead, of which a query may
    limit the bytes a second (``?limit=``). ``under`` are words to run it with, ``("netnice",)`` say, so that what it
    sends is background.
    """

    def __init__(
        self,
        namespace: Namespace,
        files: Mapping[str, int],
        under: Sequence[str] = (),
        *,
        origin: str = "",
        fresh: str = "off",
        kind: str = "text/plain",
    ) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("nginx")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "www").mkdir()
        for name, size in files.items():
            with (self.folder / "www" / name).open("wb") as file:
                file.truncate(size)
        self.port = free_port(namespace)
        configuration = self.folder / "nginx.conf"
        contents = (_CACHE if origin else _FILES).format(folder=self.folder, origin=origin, fresh=fresh)
        configuration.write_text(
            _CONFIGURATION.format(folder=self.folder, port=self.port, contents=contents, kind=kind)
        )
        self.process = namespace.spawn(*under, program("nginx"), "-p", self.folder, "-c", configuration)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "nginx to listen", process=self.process)

    def url(self, name: str) -> str:
        """The address of a file; the namespace must have its place on a path by now."""
        return f"http://{self.namespace.address or '127.0.0.1'}:{self.port}/{name}"

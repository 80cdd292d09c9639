# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Servers with files to fetch, or that take uploads: nginx, an rsync daemon, a git daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed import ownership
from testbed.namespace import Namespace, free_port, listens, wait_until
from testbed.programs import program

_NGINX = """\
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
    ``kind``. With an ``origin`` (the start of an URL) it is a cache of what is there instead. A query may limit
    the bytes a second (``?limit=``). ``under`` are words to run it with, for example ``("netnice",)``: what it sends is
    background.
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
        configuration.write_text(_NGINX.format(folder=self.folder, port=self.port, contents=contents, kind=kind))
        self.process = namespace.spawn(*under, program("nginx"), "-p", self.folder, "-c", configuration)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "nginx to listen", process=self.process)

    def url(self, name: str) -> str:
        """The address of a file; the namespace must have its place on a path by now."""
        return f"http://{self.namespace.address or '127.0.0.1'}:{self.port}/{name}"


_RSYNC = """\
pid file = {folder}/rsyncd.pid
lock file = {folder}/rsyncd.lock
log file = {folder}/rsyncd.log
port = {port}
use chroot = no
uid = 0
gid = 0

[in]
path = {folder}/in
read only = no
write only = yes
max connections = 0

[out]
path = {folder}/out
"""


class RsyncDaemon(ownership.Owned):
    """An rsync daemon on a free port of a namespace: module ``in`` takes uploads, ``out`` has what is in ``out``.

    ``under`` are words to run it with, as nginx's; ``limit`` are the bytes a second that it sends at most.
    """

    def __init__(self, namespace: Namespace, under: Sequence[str] = (), *, limit: int = 0) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("rsync")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"
        for module in (self.folder / "in", self.out):
            module.mkdir()
        self.port = free_port(namespace)
        configuration = self.folder / "rsyncd.conf"
        configuration.write_text(_RSYNC.format(folder=self.folder, port=self.port))
        words = ["--daemon", "--no-detach", f"--config={configuration}", *throttle(limit)]
        self.process = namespace.spawn(*under, program("rsync"), *words)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "rsync to listen", process=self.process)

    def url(self, folder: str) -> str:
        """The address of a folder to upload to, made by the first upload."""
        return f"{self._root}/in/{folder}/"

    def source(self, name: str) -> str:
        """The address of a file of ``out``; the namespace must have its place on a path by now."""
        return f"{self._root}/out/{name}"

    @property
    def _root(self) -> str:
        return f"rsync://{self.namespace.address or '127.0.0.1'}:{self.port}"


def throttle(limit: int) -> list[str]:
    """The option of at most so many bytes a second, in whole KiB as the daemon wants it; 0: none."""
    return [f"--bwlimit={limit // 1024}"] if limit else []


#: No settings count, neither this machine's nor its user's.
ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
_AUTHOR = "a <a@example.org> 1700000000 +0000"


class GitDaemon(ownership.Owned):
    """Serves a repository of one commit, one file of ``size`` bytes that nothing can compress, on a free port."""

    def __init__(self, namespace: Namespace, size: int) -> None:
        super().__init__()
        self.namespace = namespace
        self.folder = ownership.scratch("git")
        self._parts.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._make(size)
        self.port = free_port(namespace)
        words = ["--reuseaddr", "--export-all", f"--base-path={self.folder}", f"--port={self.port}", str(self.folder)]
        self.process = namespace.spawn("git", "daemon", *words, env=ALONE)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "git to listen", process=self.process)

    def url(self) -> str:
        """The address to clone from; the namespace must have its place on a path by now."""
        return f"git://{self.namespace.address or '127.0.0.1'}:{self.port}/repository.git"

    def _make(self, size: int) -> None:
        random_file(self.folder / "file", size)
        self._git(["init", "--quiet", "--bare"])
        self._git(["config", "core.compression", "0"])  # it would take long, and find nothing
        blob = self._git(["hash-object", "-w", str(self.folder / "file")])
        tree = self._git(["mktree"], f"100644 blob {blob}\tfile\n")
        commit = self._git(
            ["hash-object", "-w", "-t", "commit", "--stdin"],
            f"tree {tree}\nauthor {_AUTHOR}\ncommitter {_AUTHOR}\n\none\n",
        )
        self._git(["update-ref", "HEAD", commit])
        self._git(["repack", "--quiet", "-ad"])  # or each clone would wait for it

    def _git(self, words: Sequence[str], text: str = "") -> str:
        argv = [program("git"), "--git-dir", str(self.folder / "repository.git"), *words]
        done = subprocess.run(argv, input=text, env=ALONE, check=True, capture_output=True, text=True)
        return done.stdout.strip()


def random_file(path: Path, size: int) -> None:
    """Bytes that no program on the way can compress."""
    chunk = 1 << 20
    with path.open("wb") as file:
        for start in range(0, size, chunk):
            file.write(os.urandom(min(chunk, size - start)))

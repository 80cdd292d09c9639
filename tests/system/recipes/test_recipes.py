# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The recipes of docs/use/policy.md.

Programs that copy, by their names and by the unit that a timer starts. Daemons that fetch for others, as their
packages' units. Images and containers.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest

from system.harness.commands import Pair
from system.recipes import machine as keys
from system.recipes.conftest import DATA, SIZE, Boot, Rules, Traffic, Yields, observed
from testbed import Nginx, Registry, Tracker, Transmission, random_file, random_image, scratch
from testbed.namespace import wait_until

pytestmark = pytest.mark.verify("Debian systems are booted, with packages that the quick tier does not have")
_PORT = 8000
#: No way to find a peer but the tracker, and TCP for all of it.
_CLIENT = {
    "dht-enabled": False,
    "download-dir": "/srv/torrent",
    "lpd-enabled": False,
    "pex-enabled": False,
    "port-forwarding-enabled": False,
    "rename-partial-files": True,
    "rpc-enabled": False,
    "utp-enabled": False,
    "watch-dir": "/srv/watch",
    "watch-dir-enabled": True,
}
_DAILY = 'APT::Periodic::Update-Package-Lists "1";\nAcquire::http::Proxy "DIRECT";\n'
_NIX = "substituters = {}\nrequire-sigs = false\nsandbox = false\nbuild-users-group =\n"
#: Docker and containerd are told that the registry speaks HTTP, and to copy files where there is no overlay to be had.
_DOCKER = {"etc/docker/daemon.json": '{"insecure-registries": ["100.127.0.0/24"], "storage-driver": "vfs"}'}
_CONTAINERD = """\
version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
"""


@pytest.mark.parametrize("by", ["unit", "command"])
class TestBackups:
    """From a timer's unit, or by hand."""

    WORK: ClassVar = {"unit": "backups by restic or borg, from a timer", "command": "the same, by hand"}

    def test_restic(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields, by: str) -> None:
        rules(self.WORK[by], "restic")
        far = boot(cable.b)
        far.serve("rclone", "serve", "restic", "--addr", f":{_PORT}", "/srv/backup", port=_PORT)
        environment = {"RESTIC_PASSWORD": "x", "HOME": "/root", "RESTIC_REPOSITORY": f"rest:http://{cable.b4}:{_PORT}/"}
        job = ["/usr/bin/restic", "backup", DATA]
        home = boot(cable.a, {"etc/systemd/system/restic-home.service": _oneshot(environment, job)})
        home.command("restic", "init", env=environment)
        with yields(fetches=False):
            home.start("restic-home") if by == "unit" else home.command(*job, env=environment)

    def test_borg(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields, by: str) -> None:
        rules(self.WORK[by], "borg")
        far = boot(cable.b, keys.of_server())
        far.start("ssh")
        environment = {"HOME": "/root", "BORG_REPO": f"ssh://root@{cable.b4}/srv/backup", "BORG_RSH": keys.SSH}
        environment["BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK"] = "yes"
        job = ["/usr/bin/borg", "create", "::one", DATA]
        home = boot(cable.a, {"etc/systemd/system/borg-home.service": _oneshot(environment, job), **keys.of_client()})
        home.command("chmod", "600", keys.KEY)
        home.command("borg", "init", "--encryption=none", env=environment)
        with yields(fetches=False):
            home.start("borg-home") if by == "unit" else home.command(*job, env=environment)


class TestCopies:
    WORK = "rclone, rsync"

    def test_rclone(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        """By both ends' rules: the server has its name."""
        rules(self.WORK, "rclone")
        boot(cable.b).serve("rclone", "serve", "webdav", "--addr", f":{_PORT}", "/srv/backup", port=_PORT)
        with yields():
            boot(cable.a).command("rclone", "copy", DATA, ":webdav:", f"--webdav-url=http://{cable.b4}:{_PORT}")

    def test_rsync_by_ssh(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        rules(self.WORK, "rsync")
        boot(cable.b, keys.of_server()).start("ssh")
        home = boot(cable.a, keys.of_client())
        home.command("chmod", "600", keys.KEY)
        with yields(fetches=False):
            home.command("rsync", "-e", keys.SSH, DATA, f"root@{cable.b4}:/srv/copy")


def _oneshot(environment: Mapping[str, str], argv: list[str]) -> str:
    """A unit that a timer would start."""
    said = "".join(f'Environment="{name}={value}"\n' for name, value in environment.items())
    return f"[Service]\nType=oneshot\n{said}ExecStart={' '.join(argv)}\n"


def test_debians_daily(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    rules("Debian's and Ubuntu's daily downloads")
    with Nginx(cable.b, {}) as web:
        (web.folder / "www/Packages").write_text(_described(SIZE))
        source = f"deb [trusted=yes allow-insecure=yes] {web.url('')} ./\n"
        home = boot(cable.a, {"etc/apt/sources.list": source, "etc/apt/apt.conf.d/99daily": _DAILY})
        with yields(sends=False):
            home.start("apt-daily")


def test_nix(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """The daemon fetches for its clients."""
    rules("nix's downloads")
    with Nginx(cable.b, {}) as web:
        home = boot(cable.a, {"etc/nix/nix.conf": _NIX.format(web.url(""))})
        (path,) = home.command("nix-store", "--add", DATA).split()
        nix = ["nix", "--extra-experimental-features", "nix-command"]
        home.command(*nix, "copy", "--to", "file:///tmp/cache?compression=none", path)
        home.command("nix-store", "--delete", path)
        shutil.copytree(home.root / "tmp/cache", web.folder / "www", dirs_exist_ok=True)
        home.start("nix-daemon")
        with yields():
            home.command("nix-store", "--realise", path, env={"NIX_REMOTE": "daemon"})


def test_snaps(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """What the daemon fetches of the store."""
    rules("snaps")
    with Nginx(cable.b, {}, kind="application/json") as web:
        answer = web.folder / "www/v2/snaps/find"
        answer.parent.mkdir(parents=True)
        answer.write_text(json.dumps({"results": [], "more": "." * SIZE}))
        store = f"[Service]\nEnvironment=SNAPPY_FORCE_API_URL={web.url('')}\n"
        home = boot(cable.a, {"etc/systemd/system/snapd.service.d/store.conf": store})
        with yields(sends=False):
            home.command("snap", "find", "anything", check=False)


def test_torrents(cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
    """What the daemon of the package fetches of another's."""
    rules("torrents")
    shared = scratch("shared") / "shared"
    random_file(shared, SIZE)
    with Tracker(cable.b) as tracker:
        torrent = tracker.announce(shared)
        with Transmission(cable.b, cable.b4, torrent, seeds=True):
            home = boot(cable.a, {"etc/transmission-daemon/settings.json": json.dumps(_CLIENT)})
            home.command("install", "--directory", "--mode=777", "/srv/torrent", "/srv/watch")
            (home.root / "srv/watch/shared.torrent").write_bytes(torrent.file.read_bytes())
            with yields():
                home.start("transmission-daemon")
                wait_until((home.root / "srv/torrent/shared").exists, "it to be fetched", seconds=60)


def _described(size: int) -> str:
    """An index of one package, which is described at length."""
    fields = ["Package: big", "Version: 1", "Architecture: all", "Maintainer: a <a@example.org>", "Description: long"]
    line = f" {os.urandom(30).hex()}\n"
    return "\n".join([*fields, line * (size // len(line))])


@pytest.fixture
def image(cable: Pair) -> Iterator[str]:
    """Of three layers, in a registry at the other end."""
    with Registry(cable.b, scratch("store")) as registry:
        registry.push(random_image(scratch("image"), 3, SIZE // 3), "image")
        yield registry.image("image").removeprefix("docker://")


class TestImages:
    def test_docker(self, cable: Pair, boot: Boot, rules: Rules, image: str, yields: Yields) -> None:
        rules("docker's image pulls")
        home = boot(cable.a, _DOCKER)
        home.start("docker")
        with yields():
            home.command("docker", "pull", image)

    def test_without_a_rule_nobody_yields(self, up: None, cable: Pair, boot: Boot, image: str) -> None:
        home = boot(cable.a, _DOCKER)
        home.start("docker")
        with observed(cable.a) as traffic:
            home.command("docker", "pull", image)
        assert traffic == Traffic({"cubic"}, 0)

    def test_containerd(self, cable: Pair, boot: Boot, rules: Rules, image: str, yields: Yields) -> None:
        """As kubelet asks it."""
        rules("containerd's and Kubernetes' pulls")
        host = image.partition("/")[0]
        hosts = f'server = "http://{host}"\n[host."http://{host}"]\n'
        files = {"etc/containerd/config.toml": _CONTAINERD, f"etc/containerd/certs.d/{host}/hosts.toml": hosts}
        home = boot(cable.a, files)
        home.start("containerd")
        (home.root / "tmp/request").write_bytes(_grpc(_field(_field(image.encode()))))
        words = ["--http2-prior-knowledge", "--unix-socket", "/run/containerd/containerd.sock", "--include"]
        words += ["--header", "content-type: application/grpc", "--header", "te: trailers"]
        with yields():
            url = "http://localhost/runtime.v1.ImageService/PullImage"
            said = home.command("curl", "-sS", *words, "--data-binary", "@/tmp/request", url)
        assert "grpc-status: 0" in said

    def test_podman(self, cable: Pair, boot: Boot, rules: Rules, image: str, yields: Yields) -> None:
        rules("podman's pulls")
        home = boot(cable.a)
        with yields():
            home.command("podman", "--storage-driver=vfs", "--events-backend=none", "pull", "--tls-verify=false", image)


class TestContainers:
    def test_all(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        """Of docker's, by its bridge and address translation, what it fetches."""
        rules("all containers")
        home = boot(cable.a, _DOCKER)
        home.start("docker")
        home.command("sh", "-c", "tar -c -C / bin/busybox | docker import - small")
        with Nginx(cable.b, {"data": SIZE}) as web, yields(sends=None):
            home.command("docker", "run", "--rm", "small", "/bin/busybox", "wget", "-qO", "/dev/null", web.url("data"))

    def test_best_effort_pods(self, cable: Pair, boot: Boot, rules: Rules, yields: Yields) -> None:
        rules("best-effort pods")
        home = boot(cable.a)
        with Nginx(cable.b, {"data": SIZE}) as web, yields():
            words = ["systemd-run", "--quiet", "--wait", "--slice=kubepods-besteffort-pod1.slice"]
            home.command(*words, "curl", "-sSfo", "/dev/null", web.url("data"))


def _field(value: bytes) -> bytes:
    """A message of protobuf whose only field is its first."""
    return bytes([1 << 3 | 2, len(value)]) + value


def _grpc(message: bytes) -> bytes:
    return bytes([0]) + len(message).to_bytes(4) + message

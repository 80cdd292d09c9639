# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Images and containers: docker and containerd as their packages' units, podman, pods."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from system.harness.commands import Pair
from system.recipes.conftest import SIZE, Boot, Rules, Yields
from system.recipes.traffic import Traffic, observed
from testbed import Nginx, Registry, random_image, scratch

#: Docker and containerd are told that the registry speaks HTTP, and to copy files where there is no overlay to be had.
_DOCKER = {"etc/docker/daemon.json": '{"insecure-registries": ["100.127.0.0/24"], "storage-driver": "vfs"}'}
_CONTAINERD = """\
version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
"""


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

    def test_without_a_rule_nobody_yields(self, up: object, cable: Pair, boot: Boot, image: str) -> None:
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

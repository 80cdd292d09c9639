# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A container registry, images of random layers for it, and podman, which pulls: itself, or as a daemon for clients."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from testbed import ownership
from testbed.namespace import Namespace, free_port, listens, wait_until
from testbed.programs import program

_REGISTRY = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {store}}}}}
http: {{addr: ":{port}"}}
"""
_OCI = "application/vnd.oci.image"
_TAG = "latest"
#: The machine's rules of which images to trust are no part of this.
SKOPEO = ("--insecure-policy",)


class Registry(ownership.Owned):
    """A docker-registry on a free port of a namespace. What is pushed stays in the folder ``store``."""

    def __init__(self, namespace: Namespace, store: Path) -> None:
        super().__init__()
        self.namespace = namespace
        folder = ownership.scratch("registry")
        self._parts.callback(shutil.rmtree, folder, ignore_errors=True)
        self.port = free_port(namespace)
        configuration = folder / "registry.yml"
        configuration.write_text(_REGISTRY.format(store=store, port=self.port))
        self.process = namespace.spawn("docker-registry", "serve", configuration)
        self._parts.push(self.process)
        wait_until(lambda: listens(namespace, self.port), "the registry to listen", process=self.process)

    def image(self, name: str) -> str:
        """Where skopeo finds an image, or puts it."""
        return f"docker://{self.namespace.address or '127.0.0.1'}:{self.port}/{name}:{_TAG}"

    def push(self, image: str, name: str) -> None:
        """Puts an image of skopeo's into it."""
        words = ["copy", "--quiet", "--dest-tls-verify=false", image, self.image(name)]
        self.namespace.run("skopeo", *SKOPEO, *words, env=skopeo_environment())


def skopeo_environment() -> dict[str, str]:
    """What skopeo learns about blobs goes where it is put away: it takes that folder for users other than root."""
    return {"XDG_DATA_HOME": str(ownership.scratch("skopeo")), "_CONTAINERS_ROOTLESS_UID": "1"}


def random_image(folder: Path, layers: int, layer_bytes: int) -> str:
    """Writes an image (OCI layout) whose layers cannot be compressed; returns where skopeo finds it."""
    contents, described = [], []
    for number in range(layers):
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as tar:
            file = tarfile.TarInfo(f"layer{number}")
            file.size = layer_bytes
            tar.addfile(file, io.BytesIO(os.urandom(layer_bytes)))
        contents.append(f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}")
        described.append(_blob(folder, "layer.v1.tar+gzip", gzip.compress(layer.getvalue(), 0)))
    root = {"type": "layers", "diff_ids": contents}
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": root}
    manifest = {
        "schemaVersion": 2,
        "config": _blob(folder, "config.v1+json", json.dumps(config).encode()),
        "layers": described,
    }
    index = _blob(folder, "manifest.v1+json", json.dumps(manifest).encode())
    index["annotations"] = {"org.opencontainers.image.ref.name": _TAG}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [index]}))
    (folder / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))
    return f"oci:{folder}:{_TAG}"


def _blob(folder: Path, kind: str, data: bytes) -> dict[str, object]:
    """Stores a part of an image under its digest, and describes it."""
    digest = hashlib.sha256(data).hexdigest()
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)
    (blobs / digest).write_bytes(data)
    return {"mediaType": f"{_OCI}.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


_PODMAN = """\
[engine]
lock_type = "file"
events_logger = "none"
cgroup_manager = "cgroupfs"
"""
_PULL = ("pull", "--quiet", "--tls-verify=false")
_MOUNTS = Path("/proc/self/mountinfo")


class PodmanStorage(ownership.Owned):
    """A storage of podman's that goes with the context, and the words and ``env`` of a podman that uses it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = ownership.scratch("podman")
        self._parts.callback(self._remove)
        configuration = self.folder / "containers.conf"
        configuration.write_text(_PODMAN)
        self.env = {"CONTAINERS_CONF": str(configuration), "TMPDIR": str(self.folder)}

    def words(self, *words: str) -> list[str]:
        """A podman that uses it."""
        where = ("--root", f"{self.folder}/root", "--runroot", f"{self.folder}/run", "--tmpdir", f"{self.folder}/tmp")
        return [program("podman"), "--storage-driver", "vfs", *where, *words]

    def pull(self, image: str) -> list[str]:
        """The words of a podman that pulls an image itself."""
        return self.words(*_PULL, image)

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            for mount in _mounts(str(self.folder)):
                subprocess.run([program("umount"), "--lazy", mount], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Podman(ownership.Owned):
    """``podman system service`` in a namespace, with a storage of its own that goes with it."""

    def __init__(self, namespace: Namespace) -> None:
        super().__init__()
        self.storage = PodmanStorage()
        self._parts.push(self.storage)
        socket = self.storage.folder / "socket"
        self.url = f"unix://{socket}"
        words = self.storage.words("system", "service", "--time", "0", self.url)
        self.process = namespace.spawn(*words, env=self.storage.env)
        self._parts.push(self.process)
        wait_until(socket.exists, "podman to listen", process=self.process)

    def pull(self, image: str) -> list[str]:
        """The words of a client that has it pull an image."""
        return [program("podman"), "--url", self.url, *_PULL, image]


def _mounts(below: str) -> list[str]:
    """Mounts below a folder, the innermost first."""
    points = [line.split()[4] for line in _MOUNTS.read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(below + "/")]

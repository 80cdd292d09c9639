# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A network of namespaces on one machine, for the demo and the system tests.

    from testbed import Namespace, Nginx, Path

    with Namespace("a") as a, Namespace("b") as b, Path(a, b, rate="10mbit", rtt="40ms") as path:
        with Nginx(a, {"big": 64 << 20}) as server:
            b.run("curl", "-so", "/dev/null", server.url("big"))

Everything is named after its owner's process. So the leftovers of a killed owner are found and
removed when the next testbed is made. Processes are ended by pid, never by name.
"""

from testbed.capture import Capture, Packet
from testbed.containers import Podman, PodmanStorage, Registry, random_image
from testbed.namespace import Namespace, Process, free_port, listens, wait_until
from testbed.ownership import Owned, scratch, sweep
from testbed.path import Path, Veth, black_hole
from testbed.programs import TestbedError, netnice_up, parameters, program, require_root
from testbed.servers import GitDaemon, Nginx, RsyncDaemon, random_file
from testbed.sockets import ByteCounter, Socket, disconnect, sockets
from testbed.torrent import Tracker, Transmission

__all__ = [
    "ByteCounter",
    "Capture",
    "GitDaemon",
    "Namespace",
    "Nginx",
    "Owned",
    "Packet",
    "Path",
    "Podman",
    "PodmanStorage",
    "Process",
    "Registry",
    "RsyncDaemon",
    "Socket",
    "TestbedError",
    "Tracker",
    "Transmission",
    "Veth",
    "black_hole",
    "disconnect",
    "free_port",
    "listens",
    "netnice_up",
    "parameters",
    "program",
    "random_file",
    "random_image",
    "require_root",
    "scratch",
    "sockets",
    "sweep",
    "wait_until",
]

# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""bindings/: the same call in C and Python gets the best that the machine has, without any rights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from system.harness.commands import Pair, Run
from testbed import ownership, program

BINDINGS = Path(__file__).parents[2] / "bindings"
DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
C_MAIN = """
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "background.h"

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (argc > 1 && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[1], strlen(argv[1])))
		return 1;
	struct netnice_background got = netnice_background(fd);
	printf("%s %d\\n", got.sends, got.receives);
	return 0;
}
"""
PYTHON_MAIN = """
import sys
connection = socket.socket()
if len(sys.argv) > 1:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
got = background(connection)
print(got.sends, int(got.receives))
"""


@pytest.fixture(params=["c", "python"])
def example(request: pytest.FixtureRequest) -> list[str]:
    """The words of a program that calls, and prints what it got."""
    if request.param == "python":
        return [sys.executable, "-c", (BINDINGS / "python" / "background.py").read_text() + PYTHON_MAIN]
    folder = ownership.scratch("background")
    folder.chmod(0o755)
    (folder / "main.c").write_text(C_MAIN)
    sources = [str(folder / "main.c"), str(BINDINGS / "c" / "background.c")]
    words = ["-Wall", "-Wextra", "-Werror", f"-I{BINDINGS / 'c'}", "-o", str(folder / "main"), *sources]
    subprocess.run([program("cc"), *words], check=True)
    return [str(folder / "main")]


def lowest() -> str:
    """What is left without netnice: TCP-LP where the kernel has it for everybody, else a cap."""
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    return "lp" if "lp" in allowed else "pacing"


@pytest.mark.usefixtures("down")
def test_in_order(netnicectl: Run, pair: Pair, example: list[str]) -> None:
    def got(*words: str) -> str:
        return pair.a.run(*DROP, *example, *words).stdout.strip()

    assert got() == f"{lowest()} 0"
    netnicectl("up")
    assert got() == "netnice 0"
    assert got("netnice2") == "netnice2 0", "a level is kept"
    netnicectl("up", "--applications")
    assert got() == "netnice 1"
    netnicectl("down")
    assert got() == f"{lowest()} 0"

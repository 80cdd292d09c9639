#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Starts a server, as podman does a container. Prints what it and a fork of it are given, then serves by a program."""

import json
import os
import socket
import subprocess
import sys


def given() -> str:
    """The congestion control of a connection to itself."""
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).partition(b"\0")[0].decode()


def main() -> None:
    """launcher.py WORDS: the program that it starts."""
    own = given()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, given().encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(json.dumps([own, os.read(reading, 16).decode()]), flush=True)
    subprocess.run(sys.argv[1:], check=False)


if __name__ == "__main__":
    main()

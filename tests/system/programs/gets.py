# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""gets.py: opens a TCP connection to itself; prints its congestion control and its IPv4 TOS."""

import json
import socket

server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
name = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
tos = client.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
print(json.dumps([name.partition(b"\0")[0].decode(), tos]))

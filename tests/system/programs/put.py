# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""put.py: an HTTP server that takes uploads; prints its port, then the bytes of each."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Put(BaseHTTPRequestHandler):
    """Answers PUT, keeps nothing."""

    protocol_version = "HTTP/1.1"  # so that curl's 'Expect: 100-continue' is answered

    def do_PUT(self) -> None:
        rest = whole = int(self.headers["Content-Length"])
        while rest:
            rest -= len(self.rfile.read(min(rest, 65536)))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
        print(whole, flush=True)

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", 0), Put)
    print(server.server_port, flush=True)
    server.serve_forever()

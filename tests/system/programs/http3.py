# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""http3.py CERTIFICATE KEY: the same page on port 443 by HTTP/3 and by HTTP/1.1, which says that there is HTTP/3.

Prints a line when it listens on both.
"""

import asyncio
import contextlib
import ssl
import sys
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

PORT = 443
PAGE = b"<!doctype html><title>netnice</title><p>A page."


class Http3(QuicConnectionProtocol):
    """One connection."""

    _http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answers every request with the page."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is None:
            return
        for heard in self._http.handle_event(event):
            if isinstance(heard, HeadersReceived):
                self._http.send_headers(heard.stream_id, [(b":status", b"200"), (b"content-type", b"text/html")])
                self._http.send_data(heard.stream_id, PAGE, end_stream=True)
                self.transmit()


async def http1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection over TCP."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while await reader.readuntil(b"\r\n\r\n"):
            head = f'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAlt-Svc: h3=":{PORT}"; ma=3600\r\n'
            writer.write(f"{head}Content-Length: {len(PAGE)}\r\n\r\n".encode() + PAGE)
            await writer.drain()
    writer.close()


async def main(certificate: Path, key: Path) -> None:
    """Until it is ended."""
    quic = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False)
    quic.load_cert_chain(certificate, key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    await serve("0.0.0.0", PORT, configuration=quic, create_protocol=Http3)
    await asyncio.start_server(http1, "0.0.0.0", PORT, ssl=tls)
    print(flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""server.py: sends back what it gets, to any number at a time. Prints its port."""

import asyncio


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection."""
    writer.write(await reader.read())
    writer.close()


async def main() -> None:
    """Until it is ended."""
    server = await asyncio.start_server(echo, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

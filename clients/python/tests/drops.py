"""A TCP relay that drops connections: a network between a client and the service."""

from __future__ import annotations

import asyncio
from typing import List, Optional
from urllib.parse import urlsplit


class DroppingRelay:
    """Forwards to the service; resets connection n once ``limits[n]`` bytes came from there. Later ones stay."""

    def __init__(self, target: str, limits: List[int]) -> None:
        self._target = urlsplit(target)
        self._limits = limits
        self.accepted = 0

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        self._server.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        limit = self._limits[self.accepted] if self.accepted < len(self._limits) else None
        self.accepted += 1
        service_reader, service_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        await asyncio.gather(_copy(reader, service_writer, None), _copy(service_reader, writer, limit))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: Optional[int]) -> None:
    """Forwards until the end, or until so many bytes."""
    copied = 0
    try:
        while limit is None or copied < limit:
            data = await reader.read(65_536 if limit is None else limit - copied)
            if not data:
                break
            copied += len(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()

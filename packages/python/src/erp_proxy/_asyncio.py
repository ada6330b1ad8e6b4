"""The network of the asynchronous client: a protocol of asyncio.

Threads would do too, but a call in a thread goes on after its task was cancelled. Here a cancelled call closes its
connection at once, by which the proxy learns that nobody waits for the answer.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Any, Coroutine, Optional, TypeVar

from ._http import Stream, TimeOver

T = TypeVar("T")
#: Above this number of bytes that are not read yet, no more are taken from the socket.
BUFFER_BYTES_MAX = 256 * 1024


class AsyncioNetwork:
    def scope(self) -> object:
        try:
            return asyncio.get_running_loop()
        except RuntimeError:
            return None

    async def connect(self, host: str, port: int, tls: Optional[ssl.SSLContext], deadline: float) -> Stream:
        stream = AsyncioStream()
        opening = asyncio.get_running_loop().create_connection(lambda: stream, host, port, ssl=tls)
        try:
            await _limit(opening, deadline)
        except BaseException:
            stream.close()
            raise
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class AsyncioStream(asyncio.Protocol):
    """One task at a time reads or writes."""

    def __init__(self) -> None:
        self._transport: Optional[asyncio.Transport] = None
        self._buffer = bytearray()
        self._has_ended = False
        self._problem: Optional[Exception] = None
        self._is_full = False
        self._waiter: Optional[asyncio.Future[None]] = None

    async def read(self, deadline: float) -> bytes:
        while not self._buffer:
            if self._problem is not None:
                raise self._problem
            if self._has_ended:
                return b""
            await self._wait(deadline)
        data = bytes(self._buffer)
        self._buffer.clear()
        if self._transport is not None and not self._has_ended:
            self._transport.resume_reading()
        return data

    async def write(self, data: bytes, deadline: float) -> None:
        if self._transport is not None:
            self._transport.write(data)
        while self._is_full and not self._has_ended:
            await self._wait(deadline)
        if self._has_ended:
            raise self._problem or ConnectionResetError("the connection ended")

    def is_stale(self) -> bool:
        return bool(self._buffer) or self._has_ended

    def close(self) -> None:
        if self._transport is not None:
            # Without waiting for bytes that are not sent yet.
            self._transport.abort()

    async def _wait(self, deadline: float) -> None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiter = waiter
        timer = loop.call_later(max(0.0, deadline - time.monotonic()), _expire, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > BUFFER_BYTES_MAX and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._has_ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._has_ended = True
        self._problem = self._problem or exc
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeOver())


async def _limit(coroutine: Coroutine[Any, Any, T], deadline: float) -> T:
    """Raises `TimeOver` after the deadline.

    `asyncio.wait_for` of Python before 3.12 can lose a cancellation, and `asyncio.timeout` exists from 3.11 on.
    """
    task = asyncio.ensure_future(coroutine)
    try:
        await asyncio.wait({task}, timeout=max(0.0, deadline - time.monotonic()))
        if task.done():
            return task.result()
        raise TimeOver
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        # Python would report an exception that nobody has read.
        if not task.cancelled():
            task.exception()

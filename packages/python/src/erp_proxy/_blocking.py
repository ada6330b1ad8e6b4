"""Runs the coroutines of the client without an event loop, on blocking sockets."""

from __future__ import annotations

import os
import selectors
import socket
import ssl
import time
from typing import AsyncGenerator, Awaitable, Iterator, Optional, TypeVar

from ._http import Stream, TimeOver

T = TypeVar("T")
READ_BYTES = 64 * 1024


def run(coroutine: Awaitable[T]) -> T:
    """Runs a coroutine that never waits for an event loop."""
    steps = coroutine.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("the coroutine waits for an event loop")


def iterate(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """Gives the items of such a generator. Ends it when the caller ends the iteration."""
    try:
        while True:
            try:
                item: T = run(items.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run(items.aclose())


class BlockingNetwork:
    def scope(self) -> object:
        # A forked process must not use the connections of its parent.
        return os.getpid()

    async def connect(self, host: str, port: int, tls: Optional[ssl.SSLContext], deadline: float) -> Stream:
        problem: Optional[OSError] = None
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(_count_seconds(deadline))
                connection.connect(address)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_hostname=host)
                return BlockingStream(connection)
            except socket.timeout:
                connection.close()
                raise TimeOver from None
            except ssl.SSLError:
                connection.close()
                raise
            except OSError as error:
                connection.close()
                problem = error
            except BaseException:
                connection.close()
                raise
        raise problem or OSError(f"{host} has no address")

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class BlockingStream:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    async def read(self, deadline: float) -> bytes:
        try:
            self._socket.settimeout(_count_seconds(deadline))
            return self._socket.recv(READ_BYTES)
        except socket.timeout:
            raise TimeOver from None

    async def write(self, data: bytes, deadline: float) -> None:
        try:
            self._socket.settimeout(_count_seconds(deadline))
            self._socket.sendall(data)
        except socket.timeout:
            raise TimeOver from None

    def is_stale(self) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(0))

    def close(self) -> None:
        self._socket.close()


def _count_seconds(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    # 0 would make the socket non-blocking.
    if seconds <= 0:
        raise TimeOver
    return seconds

"""HTTP/1.1 for both clients: sends a request on a kept or a new connection, and reads the answer.

The code is written as coroutines, which the network of asyncio suspends and the blocking network never does. Redirects
are not followed: they could send the client key to another server.
"""

from __future__ import annotations

import re
import ssl
import threading
import time
from typing import Dict, List, Mapping, NamedTuple, Optional, Protocol, Tuple

#: A connection that was idle for longer is not used again. The proxy itself closes one after 65 s, and servers in
#: front of it often after less.
IDLE_SECONDS_MAX = 15
IDLE_CONNECTIONS_MAX = 10
HEAD_BYTES_MAX = 64 * 1024
#: Longest line with the size of a chunk, or of a trailer.
CHUNK_LINE_BYTES_MAX = 4096
#: Above this size, a body is sent by a write of its own instead of being copied behind the head.
JOINED_BYTES_MAX = 64 * 1024

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: |$)")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class TimeOver(Exception):
    """The deadline has passed."""


class WrongAnswer(Exception):
    """The bytes are not a complete answer of HTTP/1.1."""


class Stream(Protocol):
    """A connection. Deadlines are times of `time.monotonic`. After an exception, the stream must be closed."""

    async def read(self, deadline: float) -> bytes:
        """Returns the next bytes; empty at the end."""
        ...

    async def write(self, data: bytes, deadline: float) -> None: ...

    def is_stale(self) -> bool:
        """Whether the other side has ended an idle connection, or has sent something without a request."""
        ...

    def close(self) -> None: ...


class Network(Protocol):
    def scope(self) -> object:
        """What a kept connection belongs to: the process, or the event loop."""
        ...

    async def connect(
        self, host: str, port: int, tls: Optional[ssl.SSLContext], deadline: float
    ) -> Stream: ...

    async def sleep(self, seconds: float) -> None: ...


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.scheme == "https" else 80
        return f"{self.scheme}://{host}" + ("" if self.port == default else f":{self.port}")


class Connections:
    """The connections to one origin. Threads may share it."""

    def __init__(self, network: Network, origin: Origin, tls: Optional[ssl.SSLContext]) -> None:
        self.network = network
        self.origin = origin
        self._tls = tls
        self._lock = threading.Lock()
        self._idle: List[Tuple[object, float, Stream]] = []

    async def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        deadline: float,
        *,
        is_repeatable: bool,
    ) -> Response:
        """Sends a request, and returns the answer once its head is there. The caller must close the answer.

        A server may close a kept connection at the moment at which it is used again. A request that is repeatable is
        then sent on a new connection at once, and any other request uses a new connection from the beginning.
        """
        head = _print_head(method, path, str(self.origin).split("//")[1], headers, len(body))
        kept = self._take_idle() if is_repeatable else None
        if kept is not None:
            response = Response(self, kept)
            try:
                return await self._exchange(response, kept, head, body, deadline)
            except (OSError, WrongAnswer):
                if response.has_begun:
                    raise
        stream = await self.network.connect(self.origin.host, self.origin.port, self._tls, deadline)
        return await self._exchange(Response(self, stream), stream, head, body, deadline)

    async def _exchange(
        self, response: Response, stream: Stream, head: bytes, body: bytes, deadline: float
    ) -> Response:
        try:
            try:
                if len(body) <= JOINED_BYTES_MAX:
                    await stream.write(head + body, deadline)
                else:
                    await stream.write(head, deadline)
                    await stream.write(body, deadline)
            except OSError:
                # The server may have refused the request before its end.
                try:
                    await response.read_head(deadline)
                except (OSError, WrongAnswer):
                    pass
                if response.status == 0:
                    raise
                response.is_last = True
                return response
            await response.read_head(deadline)
            return response
        except BaseException:
            response.close()
            raise

    def _take_idle(self) -> Optional[Stream]:
        oldest = time.monotonic() - IDLE_SECONDS_MAX
        with self._lock:
            kept = self._list_own()
            found: Optional[Stream] = None
            while kept and found is None:
                _, since, stream = kept.pop()
                if since < oldest or stream.is_stale():
                    stream.close()
                else:
                    found = stream
            self._idle = kept
            return found

    def keep(self, stream: Stream) -> None:
        with self._lock:
            kept = [*self._list_own(), (self.network.scope(), time.monotonic(), stream)]
            self._idle = kept[-IDLE_CONNECTIONS_MAX:]
        for _, _, old in kept[:-IDLE_CONNECTIONS_MAX]:
            old.close()

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._list_own(), []
        for _, _, stream in idle:
            stream.close()

    def _list_own(self) -> List[Tuple[object, float, Stream]]:
        """The idle connections without those of another process or event loop, which only these can close."""
        scope = self.network.scope()
        return [each for each in self._idle if each[0] == scope]


class Response:
    """An answer. Its connection is kept once the body has been read to its end, and closed otherwise."""

    def __init__(self, connections: Connections, stream: Stream) -> None:
        self.status = 0
        #: By names in small letters.
        self.headers: Dict[str, str] = {}
        #: True if any byte has arrived.
        self.has_begun = False
        #: True if the connection cannot be used again.
        self.is_last = False
        self._connections = connections
        self._stream: Optional[Stream] = stream
        self._buffer = bytearray()
        #: Bytes that are missing of the body or of the chunk; None if the body ends with the connection.
        self._missing: Optional[int] = 0
        self._is_chunked = False
        self._has_chunk = False

    async def read_head(self, deadline: float) -> None:
        status = 100
        lines: List[bytes] = []
        # Statuses below 200 announce another head.
        while status < 200:
            first, *lines = await self._read_head_lines(deadline)
            found = _STATUS.match(first)
            if found is None:
                raise WrongAnswer("it is not HTTP/1.1")
            status = int(found[2])
            self.is_last = found[1] == b"0"
        headers: Dict[str, str] = {}
        for line in lines:
            name, separator, value = line.decode("latin-1").partition(":")
            if not separator:
                raise WrongAnswer("a header has no name")
            known = headers.get(name.lower())
            headers[name.lower()] = value.strip() if known is None else f"{known}, {value.strip()}"
        self.headers = headers
        self.is_last = self.is_last or "close" in headers.get("connection", "").lower()
        self._read_framing(status)
        self.status = status

    async def _read_head_lines(self, deadline: float) -> List[bytes]:
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end >= 0:
                lines = bytes(self._buffer[:end]).split(b"\r\n")
                del self._buffer[: end + 4]
                return lines
            if len(self._buffer) > HEAD_BYTES_MAX:
                raise WrongAnswer("its head is too long")
            await self._fill(deadline)

    def _read_framing(self, status: int) -> None:
        coding = self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length")
        if status in (204, 304):
            self._missing = 0
        elif coding != "":
            if coding != "chunked":
                raise WrongAnswer("its transfer coding is unknown")
            self._is_chunked = True
        elif length is not None:
            if not re.fullmatch("[0-9]{1,15}", length):
                raise WrongAnswer("its length is not a number")
            self._missing = int(length)
        else:
            self._missing = None
            self.is_last = True

    async def read_some(self, deadline: float) -> bytes:
        """Returns the next bytes of the body; empty at its end. An incomplete body raises `WrongAnswer`."""
        stream = self._stream
        if stream is None:
            return b""
        try:
            if self._is_chunked and self._missing == 0:
                await self._read_chunk_head(deadline)
            if self._missing == 0:
                self._finish(stream)
                return b""
            if not self._buffer:
                if self._missing is None:
                    data = await stream.read(deadline)
                    if not data:
                        self._finish(stream)
                    return data
                await self._fill(deadline)
            missing = len(self._buffer) if self._missing is None else self._missing
            data = bytes(self._buffer[:missing])
            del self._buffer[:missing]
            if self._missing is not None:
                self._missing -= len(data)
            return data
        except BaseException:
            self.close()
            raise

    async def read(self, deadline: float) -> bytes:
        """Returns the rest of the body."""
        parts: List[bytes] = []
        while True:
            part = await self.read_some(deadline)
            if not part:
                return b"".join(parts)
            parts.append(part)

    async def _read_chunk_head(self, deadline: float) -> None:
        if self._has_chunk and await self._read_line(deadline) != b"":
            raise WrongAnswer("a chunk is longer than its size")
        size = (await self._read_line(deadline)).split(b";")[0].strip()
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,12}", size):
            raise WrongAnswer("the size of a chunk is not a number")
        self._missing = int(size, 16)
        self._has_chunk = True
        if self._missing == 0:
            left = HEAD_BYTES_MAX
            while True:
                trailer = await self._read_line(deadline)
                left -= len(trailer)
                if trailer == b"":
                    return
                if left < 0:
                    raise WrongAnswer("its trailers are too long")

    async def _read_line(self, deadline: float) -> bytes:
        while True:
            end = self._buffer.find(b"\r\n")
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 2]
                return line
            if len(self._buffer) > CHUNK_LINE_BYTES_MAX:
                raise WrongAnswer("a line between chunks is too long")
            await self._fill(deadline)

    async def _fill(self, deadline: float) -> None:
        if self._stream is None:
            raise WrongAnswer("the connection is closed")
        data = await self._stream.read(deadline)
        if not data:
            raise WrongAnswer("the connection ended before the answer")
        self.has_begun = True
        self._buffer += data

    def _finish(self, stream: Stream) -> None:
        self._stream = None
        # More bytes than the answer has cannot belong to another answer.
        if self.is_last or self._buffer:
            stream.close()
        else:
            self._connections.keep(stream)

    def close(self) -> None:
        """Closes the connection, unless the body has ended."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def check_header(name: str, value: str) -> bool:
    """Whether a header can be sent. A line feed in a value would begin another header."""
    return _TOKEN.fullmatch(name) is not None and _CONTROL.search(value) is None


def _print_head(method: str, path: str, host: str, headers: Mapping[str, str], length: int) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"host: {host}", f"content-length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()

"""The file that a download gives, for both clients."""

from __future__ import annotations

import re
import time
import urllib.parse
from typing import AsyncIterator, Iterator, List, Optional

from ._blocking import run
from ._errors import ErpProxyError
from ._http import Response, TimeOver, WrongAnswer
from ._send import ATTEMPT_SECONDS_MAX


class _File:
    def __init__(self, response: Response) -> None:
        self._response = response

    @property
    def content_type(self) -> str:
        return self._response.headers.get("content-type", "application/octet-stream")

    @property
    def name(self) -> str:
        """The name that the proxy gives the file. It has no folder, but anybody may have chosen it."""
        disposition = self._response.headers.get("content-disposition", "")
        encoded = re.search(r"filename\*=UTF-8''([^;\s]+)", disposition, re.IGNORECASE)
        plain = re.search(r'filename="([^"]*)"', disposition, re.IGNORECASE)
        name = urllib.parse.unquote(encoded[1]) if encoded else plain[1] if plain else "file"
        return re.sub(r"[/\\\x00-\x1f\x7f]", "_", name) or "file"

    @property
    def size(self) -> Optional[int]:
        """Number of bytes; None if the proxy does not know it."""
        length = self._response.headers.get("content-length", "")
        return int(length) if length.isdigit() else None

    async def _read_some(self) -> bytes:
        try:
            return await self._response.read_some(time.monotonic() + ATTEMPT_SECONDS_MAX)
        except TimeOver:
            problem = "it took too long"
        except (OSError, WrongAnswer) as cause:
            problem = str(cause)
        raise ErpProxyError("connection_failed", f"The file broke off: {problem}.", retryable=True)


class File(_File):
    """A file. Iterate over it to get its bytes as they arrive, and close it, or use it in a `with` statement."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            while True:
                data = run(self._read_some())
                if not data:
                    return
                yield data
        finally:
            self.close()

    def read(self) -> bytes:
        """Returns the whole rest of the file."""
        return b"".join(self)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> File:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncFile(_File):
    """A file. Iterate over it to get its bytes as they arrive, and close it, or use it in an `async with`
    statement."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                data = await self._read_some()
                if not data:
                    return
                yield data
        finally:
            self._response.close()

    async def read(self) -> bytes:
        """Returns the whole rest of the file."""
        parts: List[bytes] = []
        async for part in self:
            parts.append(part)
        return b"".join(parts)

    async def aclose(self) -> None:
        self._response.close()

    async def __aenter__(self) -> AsyncFile:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._response.close()

"""The result of a render: its facts from the response headers, and its bytes as they arrive."""

from __future__ import annotations

import os
import re
from types import TracebackType
from typing import AsyncIterator, Callable, Iterator

import httpx

from ._errors import StorybarConnectionError
from ._request import CHUNK_BYTES, OnProgress, Progress
from ._types import SucceededRender


class _Facts:
    def __init__(
        self,
        response: httpx.Response,
        on_progress: OnProgress | None,
        *,
        idempotency_key: str | None = None,
        render: SucceededRender | None = None,
    ) -> None:
        headers = response.headers
        number: Callable[[str], int | None] = lambda name: int(headers[name]) if name in headers else None
        filename = re.search(r'filename="([^"]+)"', headers.get("content-disposition", ""))
        self.request_id: str | None = headers.get("x-request-id")
        """The id under which the operator of the server finds the request that returned this file."""
        self.render_id: str | None = headers.get("x-render-id")
        self.content_type: str = headers.get("content-type", "application/octet-stream")
        self.filename: str = filename.group(1) if filename else "render"
        self.size = number("content-length")
        self.source_type: str | None = headers.get("x-source-type")
        self.warnings = [code.strip() for code in headers.get("x-warnings", "").split(",") if code.strip()]
        """Codes such as ``missing_glyphs``: the render succeeded, but may not look as intended."""
        self.missing_glyphs = number("x-missing-glyphs") or 0
        self.credits_charged = number("x-credits-charged")
        self.credits_remaining = number("x-credits-remaining")
        self.is_replay: bool = headers.get("idempotency-replayed") == "true"
        self.idempotency_key = idempotency_key
        """Send it again to get the same result without paying twice, for example after a broken download."""
        self.headers = headers
        self._response = response
        self._on_progress = on_progress
        if render is not None:
            self.render_id = render["id"]
            self.source_type = render["source_type"]
            self.warnings = render["warnings"]
            self.missing_glyphs = render["missing_glyphs"]
            self.credits_charged = render["credits"]

    def _report(self, loaded: int) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(loaded, self.size))


class RenderedFile(_Facts):
    """Read it once, with one of its methods, or close it."""

    def iter_bytes(self) -> Iterator[bytes]:
        loaded = 0
        try:
            for chunk in self._response.iter_raw(CHUNK_BYTES):
                loaded += len(chunk)
                self._report(loaded)
                yield chunk
        except httpx.TransportError as error:
            raise StorybarConnectionError(f"The download broke off after {loaded} bytes.") from error
        finally:
            self.close()

    def read(self) -> bytes:
        return b"".join(self.iter_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "wb") as file:
            for chunk in self.iter_bytes():
                file.write(chunk)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> RenderedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncRenderedFile(_Facts):
    """Read it once, with one of its methods, or close it."""

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        loaded = 0
        try:
            async for chunk in self._response.aiter_raw(CHUNK_BYTES):
                loaded += len(chunk)
                self._report(loaded)
                yield chunk
        except httpx.TransportError as error:
            raise StorybarConnectionError(f"The download broke off after {loaded} bytes.") from error
        finally:
            await self.close()

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.iter_bytes()])

    async def save(self, path: str | os.PathLike[str]) -> None:
        with open(path, "wb") as file:
            async for chunk in self.iter_bytes():
                file.write(chunk)

    async def close(self) -> None:
        await self._response.aclose()

    async def __aenter__(self) -> AsyncRenderedFile:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

"""Turns fields and files into HTTP requests. Files are sent as they are read and are never completely in memory."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, AsyncIterable, AsyncIterator, BinaryIO, Callable, Iterable, Iterator, Mapping, Union

Chunks = Union[BinaryIO, Iterable[bytes], AsyncIterable[bytes]]
Asset = Union[str, "os.PathLike[str]", bytes, Chunks, Callable[[], Chunks]]
"""A file to caption: its path, its bytes, a binary file, chunks of bytes, or a function that opens one of these.

An open file or iterable can be read only once, so a request with one isn't retried. Pass a path or a function to get
retries. Async iterables work with ``AsyncStorybar`` only.
"""

CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class Progress:
    loaded: int
    total: int | None
    """None if the size is unknown."""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class OpenableAsset:
    name: str
    size: int | None
    is_repeatable: bool
    open: Callable[[], Chunks]


def openable(asset: Asset) -> OpenableAsset:
    if isinstance(asset, (str, os.PathLike)):
        path = Path(asset)
        return OpenableAsset(path.name, path.stat().st_size, True, lambda: path.open("rb"))
    if isinstance(asset, bytes):
        return OpenableAsset("asset", len(asset), True, lambda: [asset])
    if callable(asset):
        return OpenableAsset("asset", None, True, asset)
    opened: Chunks = asset
    return OpenableAsset("asset", None, False, lambda: opened)


class Upload:
    """Returns a form with a file, as chunks of bytes."""

    def __init__(self, fields: Mapping[str, Any], asset: OpenableAsset, on_progress: OnProgress | None) -> None:
        boundary = f"storybar-{uuid.uuid4()}"
        filename = asset.name.replace('"', "%22").replace("\r", " ").replace("\n", " ")
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n'
            f"{value if isinstance(value, str) else json.dumps(value)}\r\n"
            for name, value in fields.items()
        ]
        parts.append(
            f'--{boundary}\r\ncontent-disposition: form-data; name="asset"; filename="{filename}"\r\n'
            "content-type: application/octet-stream\r\n\r\n"
        )
        self._start = "".join(parts).encode()
        self._end = f"\r\n--{boundary}--\r\n".encode()
        self._asset = asset
        self._on_progress = on_progress
        self.headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        if asset.size is not None:
            # Without a length, the server can't refuse a file that is too large before it arrives.
            self.headers["content-length"] = str(len(self._start) + asset.size + len(self._end))

    def __iter__(self) -> Iterator[bytes]:
        content = self._asset.open()
        if not hasattr(content, "read") and not isinstance(content, Iterable):
            raise TypeError("An async iterable needs AsyncStorybar.")
        yield self._start
        yield from self._observed(content)
        yield self._end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        content = self._asset.open()
        yield self._start
        if isinstance(content, AsyncIterable):
            loaded = 0
            async for chunk in content:
                loaded += len(chunk)
                yield chunk
                self._report(loaded)
        else:
            for chunk in self._observed(content):
                yield chunk
        yield self._end

    def _observed(self, content: Any) -> Iterator[bytes]:
        loaded = 0
        try:
            for chunk in iter(lambda: content.read(CHUNK_BYTES), b"") if hasattr(content, "read") else content:
                loaded += len(chunk)
                yield chunk
                self._report(loaded)
        finally:
            # The caller closes the files that it opened.
            if self._asset.is_repeatable and hasattr(content, "close"):
                content.close()

    def _report(self, loaded: int) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(loaded, self._asset.size))

"""Styles that the account saved under a name, and its logos."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, List, Mapping, cast
from urllib.parse import quote

import httpx

from ._call import Call, Settings
from ._request import Asset, Upload, openable
from ._types import Logo, SavedStyle

STYLES_PATH = "/v1/styles"
LOGOS_PATH = "/v1/logos"


class _Calls:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self, path: str) -> Call:
        return self._settings.call("GET", path)

    def get(self, path: str, name: str) -> Call:
        return self._settings.call("GET", _path(path, name))

    def save_style(self, name: str, style: Mapping[str, Any]) -> Call:
        return self._settings.call("PUT", _path(STYLES_PATH, name), json=dict(style))

    def add_logo(self, image: Asset) -> Call:
        """A second attempt would add it twice, so it isn't repeated."""
        file = openable(image)
        return self._settings.call("POST", LOGOS_PATH, upload=lambda: Upload({}, file, None), is_repeatable=False)

    def delete(self, path: str, name: str) -> Call:
        return self._settings.call("DELETE", _path(path, name))


class Styles:
    """Saving and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def list(self) -> List[SavedStyle]:
        """By name, each in its latest version."""
        return cast(List[SavedStyle], self._read(self._calls.list(STYLES_PATH)).json()["styles"])

    def get(self, name: str) -> SavedStyle:
        """``name`` is a name, or a name with a version such as ``acme@3``."""
        return cast(SavedStyle, self._read(self._calls.get(STYLES_PATH, name)).json())

    def save(self, name: str, style: Mapping[str, Any]) -> SavedStyle:
        """A style that equals the saved one makes no new version."""
        return cast(SavedStyle, self._read(self._calls.save_style(name, style)).json())

    def delete(self, name: str) -> None:
        """Deletes a style with all versions. Renders that were accepted keep it."""
        self._read(self._calls.delete(STYLES_PATH, name))


class AsyncStyles:
    """Saving and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def list(self) -> List[SavedStyle]:
        """By name, each in its latest version."""
        return cast(List[SavedStyle], (await self._read(self._calls.list(STYLES_PATH))).json()["styles"])

    async def get(self, name: str) -> SavedStyle:
        """``name`` is a name, or a name with a version such as ``acme@3``."""
        return cast(SavedStyle, (await self._read(self._calls.get(STYLES_PATH, name))).json())

    async def save(self, name: str, style: Mapping[str, Any]) -> SavedStyle:
        """A style that equals the saved one makes no new version."""
        return cast(SavedStyle, (await self._read(self._calls.save_style(name, style))).json())

    async def delete(self, name: str) -> None:
        """Deletes a style with all versions. Renders that were accepted keep it."""
        await self._read(self._calls.delete(STYLES_PATH, name))


class Logos:
    """Uploading and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def add(self, image: Asset) -> Logo:
        """Uploads a PNG, WebP or JPEG. Use its ``id`` in the ``logo`` of a style."""
        return cast(Logo, self._read(self._calls.add_logo(image)).json())

    def list(self) -> List[Logo]:
        """Oldest first."""
        return cast(List[Logo], self._read(self._calls.list(LOGOS_PATH)).json()["logos"])

    def get(self, logo_id: str) -> Logo:
        return cast(Logo, self._read(self._calls.get(LOGOS_PATH, logo_id)).json())

    def delete(self, logo_id: str) -> None:
        """Renders that were accepted keep the logo."""
        self._read(self._calls.delete(LOGOS_PATH, logo_id))


class AsyncLogos:
    """Uploading and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def add(self, image: Asset) -> Logo:
        """Uploads a PNG, WebP or JPEG. Use its ``id`` in the ``logo`` of a style."""
        return cast(Logo, (await self._read(self._calls.add_logo(image))).json())

    async def list(self) -> List[Logo]:
        """Oldest first."""
        return cast(List[Logo], (await self._read(self._calls.list(LOGOS_PATH))).json()["logos"])

    async def get(self, logo_id: str) -> Logo:
        return cast(Logo, (await self._read(self._calls.get(LOGOS_PATH, logo_id))).json())

    async def delete(self, logo_id: str) -> None:
        """Renders that were accepted keep the logo."""
        await self._read(self._calls.delete(LOGOS_PATH, logo_id))


def _path(path: str, name: str) -> str:
    return f"{path}/{quote(name, safe='')}"

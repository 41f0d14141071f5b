"""Fonts that the account uploaded."""

from __future__ import annotations

from typing import Awaitable, Callable, List, cast
from urllib.parse import quote

import httpx

from ._call import Call, Settings
from ._request import Asset, Upload, openable
from ._types import Font

PATH = "/v1/fonts"


class _Calls:
    """A second attempt would upload a second font, so only reading and deleting are repeated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self) -> Call:
        return self._settings.call("GET", PATH)

    def get(self, font_id: str) -> Call:
        return self._settings.call("GET", _path(font_id))

    def add(self, font: Asset, license_confirmed: bool) -> Call:
        file = openable(font)
        fields = {"license_confirmed": license_confirmed}
        return self._settings.call("POST", PATH, upload=lambda: Upload(fields, file, None), is_repeatable=False)

    def delete(self, font_id: str) -> Call:
        return self._settings.call("DELETE", _path(font_id))


class Fonts:
    """Uploading and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def list(self) -> List[Font]:
        """Oldest first."""
        return cast(List[Font], self._read(self._calls.list()).json()["fonts"])

    def get(self, font_id: str) -> Font:
        return cast(Font, self._read(self._calls.get(font_id)).json())

    def add(self, font: Asset, *, license_confirmed: bool) -> Font:
        """Uploads a TTF, OTF or WOFF2. ``license_confirmed`` says that its license allows you to use it here."""
        return cast(Font, self._read(self._calls.add(font, license_confirmed)).json())

    def delete(self, font_id: str) -> None:
        """Later requests with its id fail. Renders that were accepted keep it."""
        self._read(self._calls.delete(font_id))


class AsyncFonts:
    """Uploading and deleting need a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def list(self) -> List[Font]:
        """Oldest first."""
        return cast(List[Font], (await self._read(self._calls.list())).json()["fonts"])

    async def get(self, font_id: str) -> Font:
        return cast(Font, (await self._read(self._calls.get(font_id))).json())

    async def add(self, font: Asset, *, license_confirmed: bool) -> Font:
        """Uploads a TTF, OTF or WOFF2. ``license_confirmed`` says that its license allows you to use it here."""
        return cast(Font, (await self._read(self._calls.add(font, license_confirmed))).json())

    async def delete(self, font_id: str) -> None:
        """Later requests with its id fail. Renders that were accepted keep it."""
        await self._read(self._calls.delete(font_id))


def _path(font_id: str) -> str:
    return f"{PATH}/{quote(font_id, safe='')}"

"""What was sent to webhook endpoints, and what is still to be sent."""

from __future__ import annotations

from typing import AsyncIterator, Awaitable, Callable, Iterator, cast
from urllib.parse import quote

import httpx

from ._call import Call, Settings
from ._types import WebhookDelivery, WebhookDeliveryDetails, WebhookDeliveryList

PATH = "/v1/webhook-deliveries"
LARGEST_PAGE = 100


class _Calls:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self, cursor: str | None, **filters: str | None) -> Call:
        return self._settings.page(PATH, **filters, limit=LARGEST_PAGE, cursor=cursor)

    def get(self, delivery_id: str) -> Call:
        return self._settings.call("GET", f"{PATH}/{quote(delivery_id, safe='')}")

    def resend(self, delivery_id: str) -> Call:
        return self._settings.call("POST", f"{PATH}/{quote(delivery_id, safe='')}/resend", is_repeatable=False)


class WebhookDeliveries:
    """Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def list(
        self, endpoint_id: str | None = None, *, type: str | None = None, status: str | None = None
    ) -> Iterator[WebhookDelivery]:
        """Newest first, of one endpoint, type or status, or of all. Pages are read as they are needed."""
        cursor: str | None = None
        while True:
            call = self._calls.list(cursor, endpoint_id=endpoint_id, type=type, status=status)
            page = cast(WebhookDeliveryList, self._read(call).json())
            yield from page["deliveries"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def get(self, delivery_id: str) -> WebhookDeliveryDetails:
        return cast(WebhookDeliveryDetails, self._read(self._calls.get(delivery_id)).json())

    def resend(self, delivery_id: str) -> WebhookDelivery:
        """Sends the webhook once more."""
        return cast(WebhookDelivery, self._read(self._calls.resend(delivery_id)).json())


class AsyncWebhookDeliveries:
    """Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def list(
        self, endpoint_id: str | None = None, *, type: str | None = None, status: str | None = None
    ) -> AsyncIterator[WebhookDelivery]:
        """Newest first, of one endpoint, type or status, or of all. Pages are read as they are needed."""
        cursor: str | None = None
        while True:
            call = self._calls.list(cursor, endpoint_id=endpoint_id, type=type, status=status)
            page = cast(WebhookDeliveryList, (await self._read(call)).json())
            for delivery in page["deliveries"]:
                yield delivery
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def get(self, delivery_id: str) -> WebhookDeliveryDetails:
        return cast(WebhookDeliveryDetails, (await self._read(self._calls.get(delivery_id))).json())

    async def resend(self, delivery_id: str) -> WebhookDelivery:
        """Sends the webhook once more."""
        return cast(WebhookDelivery, (await self._read(self._calls.resend(delivery_id))).json())

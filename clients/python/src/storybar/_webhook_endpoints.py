"""Webhook endpoints of the account, which get the events of all renders, and the secret that signs all other webhooks."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, List, Sequence, cast
from urllib.parse import quote

import httpx

from ._call import Call, Settings
from ._types import WebhookDelivery, WebhookEndpoint, WebhookEndpointWithSecret

PATH = "/v1/webhook-endpoints"
SECRET_PATH = "/v1/webhook-secret"


class _Calls:
    """A second attempt would create a second endpoint, rotate twice or send a second test, so only reading, changing and deleting are repeated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def create(self, url: str, events: Sequence[str] | None) -> Call:
        body = {"url": url} if events is None else {"url": url, "events": list(events)}
        return self._settings.call("POST", PATH, json=body, is_repeatable=False)

    def list(self) -> Call:
        return self._settings.call("GET", PATH)

    def get(self, endpoint_id: str) -> Call:
        return self._settings.call("GET", _path(endpoint_id))

    def update(self, endpoint_id: str, url: str | None, events: Sequence[str] | None) -> Call:
        body = {"url": url, "events": None if events is None else list(events)}
        change = {name: value for name, value in body.items() if value is not None}
        return self._settings.call("PATCH", _path(endpoint_id), json=change)

    def switch(self, endpoint_id: str, to: str) -> Call:
        return self._settings.call("POST", f"{_path(endpoint_id)}/{to}")

    def delete(self, endpoint_id: str) -> Call:
        return self._settings.call("DELETE", _path(endpoint_id))

    def rotate_secret(self, endpoint_id: str, overlap_seconds: int | None) -> Call:
        return self._rotate(f"{_path(endpoint_id)}/rotate-secret", overlap_seconds)

    def test(self, endpoint_id: str) -> Call:
        return self._settings.call("POST", f"{_path(endpoint_id)}/test", is_repeatable=False)

    def account_secret(self) -> Call:
        return self._settings.call("GET", SECRET_PATH)

    def rotate_account_secret(self, overlap_seconds: int | None) -> Call:
        return self._rotate(f"{SECRET_PATH}/rotate", overlap_seconds)

    def _rotate(self, path: str, overlap_seconds: int | None) -> Call:
        body = {} if overlap_seconds is None else {"overlap_seconds": overlap_seconds}
        return self._settings.call("POST", path, json=body, is_repeatable=False)


class WebhookEndpoints:
    """Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def create(self, url: str, events: Sequence[str] | None = None) -> WebhookEndpointWithSecret:
        """Without ``events``, all of them. Only this response has the secret of the endpoint, so store it."""
        return cast(WebhookEndpointWithSecret, self._read(self._calls.create(url, events)).json())

    def list(self) -> List[WebhookEndpoint]:
        """Oldest first."""
        return cast(List[WebhookEndpoint], self._read(self._calls.list()).json()["endpoints"])

    def get(self, endpoint_id: str) -> WebhookEndpoint:
        return cast(WebhookEndpoint, self._read(self._calls.get(endpoint_id)).json())

    def update(
        self, endpoint_id: str, *, url: str | None = None, events: Sequence[str] | None = None
    ) -> WebhookEndpoint:
        """What is left out stays as it is. An empty list of events means all of them. Waiting webhooks go to the new URL."""
        return cast(WebhookEndpoint, self._read(self._calls.update(endpoint_id, url, events)).json())

    def enable(self, endpoint_id: str) -> WebhookEndpoint:
        """Sends webhooks to a disabled endpoint again."""
        return cast(WebhookEndpoint, self._read(self._calls.switch(endpoint_id, "enable")).json())

    def disable(self, endpoint_id: str) -> WebhookEndpoint:
        """Sends nothing to it until it is enabled again."""
        return cast(WebhookEndpoint, self._read(self._calls.switch(endpoint_id, "disable")).json())

    def delete(self, endpoint_id: str) -> None:
        """Webhooks that are still to be sent to it are dropped."""
        self._read(self._calls.delete(endpoint_id))

    def rotate_secret(self, endpoint_id: str, *, overlap_seconds: int | None = None) -> WebhookEndpointWithSecret:
        """Webhooks are signed with the old secret too for ``overlap_seconds``, a day unless you say otherwise."""
        call = self._calls.rotate_secret(endpoint_id, overlap_seconds)
        return cast(WebhookEndpointWithSecret, self._read(call).json())

    def test(self, endpoint_id: str) -> WebhookDelivery:
        """Sends a webhook of the type ``webhook.test``."""
        return cast(WebhookDelivery, self._read(self._calls.test(endpoint_id)).json())


class AsyncWebhookEndpoints:
    """Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def create(self, url: str, events: Sequence[str] | None = None) -> WebhookEndpointWithSecret:
        """Without ``events``, all of them. Only this response has the secret of the endpoint, so store it."""
        return cast(WebhookEndpointWithSecret, await self._json(self._calls.create(url, events)))

    async def list(self) -> List[WebhookEndpoint]:
        """Oldest first."""
        return cast(List[WebhookEndpoint], (await self._json(self._calls.list()))["endpoints"])

    async def get(self, endpoint_id: str) -> WebhookEndpoint:
        return cast(WebhookEndpoint, await self._json(self._calls.get(endpoint_id)))

    async def update(
        self, endpoint_id: str, *, url: str | None = None, events: Sequence[str] | None = None
    ) -> WebhookEndpoint:
        """What is left out stays as it is. An empty list of events means all of them. Waiting webhooks go to the new URL."""
        return cast(WebhookEndpoint, await self._json(self._calls.update(endpoint_id, url, events)))

    async def enable(self, endpoint_id: str) -> WebhookEndpoint:
        """Sends webhooks to a disabled endpoint again."""
        return cast(WebhookEndpoint, await self._json(self._calls.switch(endpoint_id, "enable")))

    async def disable(self, endpoint_id: str) -> WebhookEndpoint:
        """Sends nothing to it until it is enabled again."""
        return cast(WebhookEndpoint, await self._json(self._calls.switch(endpoint_id, "disable")))

    async def delete(self, endpoint_id: str) -> None:
        """Webhooks that are still to be sent to it are dropped."""
        await self._read(self._calls.delete(endpoint_id))

    async def rotate_secret(
        self, endpoint_id: str, *, overlap_seconds: int | None = None
    ) -> WebhookEndpointWithSecret:
        """Webhooks are signed with the old secret too for ``overlap_seconds``, a day unless you say otherwise."""
        call = self._calls.rotate_secret(endpoint_id, overlap_seconds)
        return cast(WebhookEndpointWithSecret, await self._json(call))

    async def test(self, endpoint_id: str) -> WebhookDelivery:
        """Sends a webhook of the type ``webhook.test``."""
        return cast(WebhookDelivery, await self._json(self._calls.test(endpoint_id)))

    async def _json(self, call: Call) -> Any:
        return (await self._read(call)).json()


class WebhookSecret:
    """The secret of the account. Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], httpx.Response]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    def get(self) -> str:
        return cast(str, self._read(self._calls.account_secret()).json()["secret"])

    def rotate(self, *, overlap_seconds: int | None = None) -> str:
        """The new one. Webhooks are signed with the old secret too for ``overlap_seconds``, a day unless you say otherwise."""
        return cast(str, self._read(self._calls.rotate_account_secret(overlap_seconds)).json()["secret"])


class AsyncWebhookSecret:
    """The secret of the account. Needs a live key without allowed origins."""

    def __init__(self, settings: Settings, read: Callable[[Call], Awaitable[httpx.Response]]) -> None:
        self._calls = _Calls(settings)
        self._read = read

    async def get(self) -> str:
        return cast(str, (await self._read(self._calls.account_secret())).json()["secret"])

    async def rotate(self, *, overlap_seconds: int | None = None) -> str:
        """The new one. Webhooks are signed with the old secret too for ``overlap_seconds``, a day unless you say otherwise."""
        return cast(str, (await self._read(self._calls.rotate_account_secret(overlap_seconds))).json()["secret"])


def _path(endpoint_id: str) -> str:
    return f"{PATH}/{quote(endpoint_id, safe='')}"

"""Webhooks of the real service: endpoints, ``webhook_url``, and rotated secrets."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import Callable, Iterator

import anyio
import pytest

from storybar import AsyncStorybar, Storybar, StorybarApiError, StorybarWebhookError, WebhookEvent, verify_webhook

from conftest import SERVICE


class Receiver:
    def __init__(self) -> None:
        self.received: Queue[tuple[bytes, dict[str, str]]] = Queue()
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.put((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def next(self, is_wanted: Callable[[WebhookEvent], bool]) -> tuple[bytes, dict[str, str]]:
        """The next webhook that the test is about. Other tests have the same account."""
        while True:
            body, headers = self.received.get(timeout=60)
            if is_wanted(json.loads(body)):
                return body, headers

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def is_test(event: WebhookEvent) -> bool:
    return event["type"] == "webhook.test"


def test_verifies_the_webhook_of_a_render_before_and_after_the_secret_of_the_account_is_rotated(
    service: Storybar, receiver: Receiver
) -> None:
    def announce() -> tuple[bytes, dict[str, str]]:
        render_id = service.start_render(width=64, height=32, text="Announce me", webhook_url=receiver.url)["id"]
        return receiver.next(lambda event: event["data"]["id"] == render_id)

    secret = service.webhook_secret.get()
    event = verify_webhook(*announce(), secret)
    assert event["type"] == "render.succeeded"
    assert len(service.download(event["data"]).read()) == event["data"]["output"]["bytes"]

    newer = service.webhook_secret.rotate(overlap_seconds=60)
    assert service.webhook_secret.get() == newer
    during = announce()
    for each in (secret, newer):
        verify_webhook(*during, each)

    newest = service.webhook_secret.rotate(overlap_seconds=0)
    afterwards = announce()
    verify_webhook(*afterwards, newest)
    with pytest.raises(StorybarWebhookError):
        verify_webhook(*afterwards, newer)


def test_registers_an_endpoint_that_gets_signed_events_until_it_is_deleted(
    service: Storybar, receiver: Receiver
) -> None:
    endpoints = service.webhook_endpoints
    created = endpoints.create(receiver.url, events=["batch.completed"])
    assert (created["url"], created["events"], created["status"]) == (receiver.url, ["batch.completed"], "enabled")
    listed = next(endpoint for endpoint in endpoints.list() if endpoint["id"] == created["id"])
    assert "secret" not in listed

    batch = service.start_batch([{"width": 64, "height": 32, "text": "Announce me"}])
    event = verify_webhook(*receiver.next(lambda event: event["data"]["id"] == batch["id"]), created["secret"])
    assert (event["type"], event["data"]["succeeded"]) == ("batch.completed", 1)

    endpoints.delete(created["id"])
    with pytest.raises(StorybarApiError) as caught:
        endpoints.delete(created["id"])
    assert (caught.value.status, caught.value.code) == (404, "webhook_not_found")


def test_tests_an_endpoint_and_rotates_its_secret(service: Storybar, receiver: Receiver) -> None:
    endpoints = service.webhook_endpoints
    created = endpoints.create(receiver.url, events=["render.canceled"])

    def test_once() -> tuple[bytes, dict[str, str]]:
        assert endpoints.test(created["id"])["endpoint_id"] == created["id"]
        return receiver.next(is_test)

    verify_webhook(*test_once(), created["secret"])
    newer = endpoints.rotate_secret(created["id"], overlap_seconds=60)["secret"]
    during = test_once()
    for secret in (created["secret"], newer):
        verify_webhook(*during, secret)

    newest = endpoints.rotate_secret(created["id"], overlap_seconds=0)["secret"]
    afterwards = test_once()
    verify_webhook(*afterwards, newest)
    with pytest.raises(StorybarWebhookError):
        verify_webhook(*afterwards, newer)
    endpoints.delete(created["id"])


def test_changes_disables_and_enables_an_endpoint_and_sends_a_webhook_again(
    service: Storybar, receiver: Receiver
) -> None:
    endpoints, deliveries = service.webhook_endpoints, service.webhook_deliveries
    endpoint_id = endpoints.create("https://old.example/")["id"]
    changed = endpoints.update(endpoint_id, url=receiver.url)
    assert (changed["url"], changed["events"]) == (receiver.url, [])
    assert endpoints.update(endpoint_id, events=["render.failed"])["events"] == ["render.failed"]
    assert endpoints.update(endpoint_id, events=[])["events"] == []
    assert endpoints.disable(endpoint_id)["status"] == "disabled"
    assert endpoints.get(endpoint_id)["disabled_reason"] == "user"
    assert endpoints.enable(endpoint_id)["status"] == "enabled"
    sent = endpoints.test(endpoint_id)
    receiver.next(is_test)
    assert [delivery["id"] for delivery in deliveries.list(endpoint_id)] == [sent["id"]]
    assert list(deliveries.list(endpoint_id, type="render.failed", status="failed")) == []
    # A delivery can be sent again as soon as its first response is recorded.
    while deliveries.get(sent["id"])["status"] != "succeeded":
        time.sleep(0.05)
    assert deliveries.resend(sent["id"])["endpoint_id"] == endpoint_id
    receiver.next(is_test)
    endpoints.delete(endpoint_id)


def test_async_client_does_the_same(receiver: Receiver) -> None:
    async def main() -> None:
        async with AsyncStorybar(**SERVICE) as client:
            endpoints = client.webhook_endpoints
            created = await endpoints.create(receiver.url)
            assert created["events"] == []
            assert created["id"] in [endpoint["id"] for endpoint in await endpoints.list()]
            rotated = await endpoints.rotate_secret(created["id"])
            assert (await endpoints.test(created["id"]))["type"] == "webhook.test"
            verify_webhook(*await anyio.to_thread.run_sync(receiver.next, is_test), rotated["secret"])
            assert (await endpoints.update(created["id"], events=["render.failed"]))["url"] == receiver.url
            assert (await endpoints.disable(created["id"]))["status"] == "disabled"
            assert (await endpoints.enable(created["id"]))["status"] == "enabled"
            listed = [delivery["id"] async for delivery in client.webhook_deliveries.list(created["id"])]
            assert (await client.webhook_deliveries.get(listed[0]))["type"] == "webhook.test"
            await endpoints.delete(created["id"])
            assert await client.webhook_secret.rotate() == await client.webhook_secret.get()

    anyio.run(main)

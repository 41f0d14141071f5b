"""Webhook endpoints, against the stand-in, which sends real webhooks."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import Iterator

import anyio
import pytest

from storybar import AsyncStorybar, Storybar, StorybarApiError, verify_webhook

from conftest import STAND_IN, has_operation


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

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def test_registers_tests_rotates_and_deletes_an_endpoint(stand_in: Storybar, receiver: Receiver) -> None:
    check_endpoints(stand_in, receiver)


@pytest.mark.skipif(not has_operation("/v1/webhook-endpoints"), reason="this version of the service has none")
def test_does_the_same_with_the_service(service: Storybar, receiver: Receiver) -> None:
    check_endpoints(service, receiver)


def check_endpoints(client: Storybar, receiver: Receiver) -> None:
    endpoints = client.webhook_endpoints
    created = endpoints.create(receiver.url, events=["render.failed"])
    assert (created["url"], created["events"], created["status"]) == (receiver.url, ["render.failed"], "enabled")
    listed = next(endpoint for endpoint in endpoints.list() if endpoint["id"] == created["id"])
    assert "secret" not in listed

    assert endpoints.test(created["id"])["endpoint_id"] == created["id"]
    body, headers = receiver.received.get(timeout=30)
    assert verify_webhook(body, headers, created["secret"])["type"] == "webhook.test"

    rotated = endpoints.rotate_secret(created["id"], overlap_seconds=60)
    assert rotated["secret"] != created["secret"]
    endpoints.test(created["id"])
    body, headers = receiver.received.get(timeout=30)
    for secret in (created["secret"], rotated["secret"]):
        verify_webhook(body, headers, secret)

    endpoints.delete(created["id"])
    with pytest.raises(StorybarApiError) as caught:
        endpoints.delete(created["id"])
    assert (caught.value.status, caught.value.code) == (404, "webhook_not_found")


def test_does_the_same_asynchronously(receiver: Receiver) -> None:
    async def main() -> None:
        async with AsyncStorybar(**STAND_IN) as client:
            endpoints = client.webhook_endpoints
            created = await endpoints.create(receiver.url)
            assert created["events"] == []
            assert created["id"] in [endpoint["id"] for endpoint in await endpoints.list()]
            rotated = await endpoints.rotate_secret(created["id"])
            assert (await endpoints.test(created["id"]))["type"] == "webhook.test"
            body, headers = await anyio.to_thread.run_sync(lambda: receiver.received.get(timeout=30))
            verify_webhook(body, headers, rotated["secret"])
            await endpoints.delete(created["id"])

    anyio.run(main)

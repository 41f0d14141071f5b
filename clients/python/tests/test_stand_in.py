"""Against the stand-in: errors that pass."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from storybar import AsyncStorybar, Storybar, StorybarApiError, StorybarTimeoutError

from conftest import STAND_IN, STAND_IN_URL


def seen_with(key: str | None) -> list[dict[str, Any]]:
    seen = httpx.get(f"{STAND_IN_URL}/seen").json()
    return [request for request in seen if request["headers"].get("idempotency-key") == key]


def test_retries_with_one_idempotency_key_and_sends_the_file_each_time(stand_in: Storybar, photo: Path) -> None:
    render = stand_in.caption(photo, text="busy twice")
    assert render.read() == b"attempt 3"
    seen = seen_with(render.idempotency_key)
    assert len(seen) == 3
    assert all(request["bytes"] > photo.stat().st_size for request in seen)
    assert all(request["headers"]["content-length"] == str(request["bytes"]) for request in seen)


def test_retries_when_the_connection_breaks(stand_in: Storybar) -> None:
    assert stand_in.caption(width=16, height=16, text="cut off").read() == b"attempt 2"


def test_does_not_retry_an_open_file_which_can_be_read_only_once(stand_in: Storybar, photo: Path) -> None:
    key = str(uuid.uuid4())
    with photo.open("rb") as file, pytest.raises(StorybarApiError) as caught:
        stand_in.caption(file, text="busy twice", idempotency_key=key)
    assert (caught.value.code, caught.value.retry_after) == ("overloaded", 0)
    assert len(seen_with(key)) == 1


@pytest.mark.parametrize(("text", "code"), [("busy for a day", "rate_limited"), ("no credits", "quota_exceeded")])
def test_does_not_wait_too_long_nor_for_credits_that_are_used_up(stand_in: Storybar, text: str, code: str) -> None:
    key = str(uuid.uuid4())
    with pytest.raises(StorybarApiError) as caught:
        stand_in.caption(width=16, height=16, text=text, idempotency_key=key)
    assert caught.value.code == code
    assert len(seen_with(key)) == 1


def test_gives_up_when_no_response_arrives_in_time() -> None:
    with Storybar(**STAND_IN, timeout=0.05, max_retries=0) as client, pytest.raises(StorybarTimeoutError):
        client.caption(width=16, height=16, text="silence")


def test_asks_for_the_state_of_a_batch_more_often_when_the_caller_follows_its_progress() -> None:
    waits: list[str] = []
    states = ["rendering", "succeeded", "rendering", "succeeded"]

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/v1/batches"):
            return httpx.Response(200, json={"id": "b1", "renders": [{"id": "r1", "status": states.pop(0)}]})
        waits.append(request.url.params["wait"])
        return httpx.Response(200, json={"id": "r1", "status": "succeeded"})

    with Storybar(**STAND_IN, http_client=httpx.Client(transport=httpx.MockTransport(respond))) as client:
        client.wait_for_batch("b1")
        client.wait_for_batch("b1", on_progress=lambda batch: None)
    assert waits == ["20", "2"]


def test_async_client_retries(photo: Path) -> None:
    async def run() -> None:
        async with AsyncStorybar(**STAND_IN) as client:
            assert await (await client.caption(photo, text="busy twice")).read() == b"attempt 3"

    anyio.run(run)

"""Stored renders and batches, against the real service."""

from __future__ import annotations

import uuid
from pathlib import Path

import anyio
import httpx
import pytest

from storybar import (
    AsyncBatchResult,
    AsyncStorybar,
    BatchResult,
    Render,
    Storybar,
    StorybarApiError,
    StorybarError,
    StorybarRenderError,
    StorybarTimeoutError,
)
from storybar._types import AsyncCaptionFields

from conftest import SERVICE, STAND_IN_URL

# The file never ends, so its render doesn't either.
ENDLESS: AsyncCaptionFields = {"asset_url": f"{STAND_IN_URL}/files/endless.jpg", "text": "Endless"}


def test_starts_a_render_follows_its_progress_and_downloads_the_result(service: Storybar, clip: Path) -> None:
    render = service.start_render(clip, text="Later")
    seen: list[Render] = []
    finished = service.wait_for(render, on_progress=seen.append)
    assert (seen[-1]["status"], seen[-1]["progress"]) == ("succeeded", 1)
    assert finished["output"]["duration"]
    file = service.download(finished)
    assert file.content_type == "video/mp4"
    assert len(file.read()) == finished["output"]["bytes"]


def test_raises_the_error_of_a_render_that_failed_or_was_canceled(service: Storybar) -> None:
    broken = service.start_render(asset_url=f"{STAND_IN_URL}/files/broken.jpg", text="Broken")
    with pytest.raises(StorybarRenderError) as failed:
        service.wait_for(broken)
    assert (failed.value.code, failed.value.status, failed.value.render_id) == ("asset_undecodable", 422, broken["id"])
    endless = service.start_render(**ENDLESS)
    with pytest.raises(StorybarTimeoutError):
        service.wait_for(endless, timeout=0)
    canceled = service.cancel_render(endless["id"])
    assert canceled is not None and canceled["status"] == "canceled"
    with pytest.raises(StorybarRenderError) as caught:
        service.wait_for(endless["id"])
    assert caught.value.code == "canceled"


def test_lists_renders_in_pages_newest_first(service: Storybar) -> None:
    started = [service.start_render(width=64, height=32, text=text)["id"] for text in ("one", "two", "three")]
    first = service.list_renders(limit=2)
    assert [render["id"] for render in first["renders"]] == [started[2], started[1]]
    second = service.list_renders(limit=1, cursor=first["next_cursor"])
    assert second["renders"][0]["id"] == started[0]
    with pytest.raises(StorybarApiError):
        service.list_renders(limit=0)


def test_renders_a_batch_in_order_and_one_that_fails_does_not_stop_the_others(service: Storybar) -> None:
    key = str(uuid.uuid4())
    seen: list[str] = []

    def start() -> str:
        return service.start_batch(
            [
                {"width": 64, "height": 32, "text": "one"},
                {"asset_url": "http://127.0.0.1:65533/none.jpg", "text": "two"},
                {"width": 128, "height": 32, "text": "three"},
            ],
            idempotency_key=key,
        )["id"]

    batch_id = start()
    done = service.wait_for_batch(batch_id, on_progress=lambda batch: seen.append(batch["status"]))
    assert seen[-1] == "completed"
    assert [render["status"] for render in done["renders"]] == ["succeeded", "failed", "succeeded"]
    assert [render["output"] and render["output"]["width"] for render in done["renders"]] == [64, None, 128]
    assert start() == batch_id
    assert service.cancel_batch(batch_id) is None
    with pytest.raises(StorybarApiError) as caught:
        service.get_batch(batch_id)
    assert caught.value.code == "render_not_found"


def test_refuses_a_batch_with_all_faults_and_stops_waiting_after_the_timeout(service: Storybar) -> None:
    with pytest.raises(StorybarApiError) as caught:
        service.start_batch([{"width": 64, "height": 32, "text": ""}, {"width": 64, "height": 1, "text": "a"}])
    assert [fault.pointer for fault in caught.value.faults] == ["#/requests/0/text", "#/requests/1/height"]
    batch = service.start_batch([{"width": 64, "height": 32, "text": "many"} for _ in range(20)])
    with pytest.raises(StorybarTimeoutError):
        service.wait_for_batch(batch, timeout=0)
    service.cancel_batch(batch["id"])


def test_deletes_a_render_that_has_ended(service: Storybar) -> None:
    render_id = service.start_render(width=64, height=32, text="gone")["id"]
    service.wait_for(render_id)
    assert service.cancel_render(render_id) is None
    with pytest.raises(StorybarApiError):
        service.get_render(render_id)


def test_async_client_has_the_same_methods() -> None:
    async def use() -> None:
        async with AsyncStorybar(**SERVICE) as client:
            batch = await client.start_batch([{"width": 64, "height": 32, "text": "one"}])
            done = await client.wait_for_batch(batch)
            assert done["succeeded"] == 1
            listed = await client.list_renders(limit=1)
            assert listed["renders"][0]["id"] == done["renders"][0]["id"]
            assert (await client.get_batch(batch["id"]))["status"] == "completed"
            finished = await client.wait_for(done["renders"][0]["id"])
            assert len(await (await client.download(finished)).read()) == finished["output"]["bytes"]
            assert await client.cancel_batch(batch["id"]) is None
            with pytest.raises(StorybarApiError) as caught:
                await client.get_render("unknown/../id")
            assert caught.value.code == "render_not_found"

    anyio.run(use)


def test_goes_through_all_renders_and_keeps_a_result_under_a_link(service: Storybar) -> None:
    linked = service.caption_to_url(width=64, height=32, text="Linked")
    started = service.start_render(width=64, height=32, text="Later")["id"]
    seen: list[str] = []
    for render in service.renders():
        seen.append(render["id"])
        if render["id"] == linked["id"]:
            break
    assert seen.index(started) < seen.index(linked["id"])
    file = service.download(linked)
    assert (file.render_id, file.credits_charged, file.source_type) == (linked["id"], 1, "image")
    assert len(file.read()) == linked["output"]["bytes"]


MANY: list[AsyncCaptionFields] = [
    {"width": 64, "height": 32, "text": "one"},
    {"asset_url": "http://127.0.0.1:65533/none.jpg", "text": "two"},
    {"width": 64, "height": 32, "text": "three"},
]


def test_renders_many_requests_and_passes_on_each_result_with_its_index(service: Storybar) -> None:
    results: dict[int, BatchResult] = {}

    def use(result: BatchResult) -> None:
        results[result.index] = result
        if result.file is not None:
            assert len(result.file.read()) == result.file.size

    service.caption_all(MANY, use, connections=2)
    assert sorted(results) == [0, 1, 2]
    failed = results[1].error
    assert failed is not None and failed.code == "asset_unreachable"


def test_sends_a_result_to_a_bucket_and_keeps_no_copy_to_download(service: Storybar) -> None:
    put_url = f"{STAND_IN_URL}/bucket/{uuid.uuid4()}.png"
    sent = service.wait_for(service.start_render(width=64, height=32, text="Sent", put_url=put_url))
    assert (sent["output"]["url"], sent["output"]["put_status"]) == (None, 200)
    assert len(httpx.get(put_url).content) == sent["output"]["bytes"]
    with pytest.raises(StorybarError, match="put_url"):
        service.download(sent)


def test_refuses_to_download_many_results_that_go_to_a_bucket(service: Storybar) -> None:
    requests: list[AsyncCaptionFields] = [{"width": 64, "height": 32, "text": "a", "put_url": f"{STAND_IN_URL}/bucket/no"}]
    with pytest.raises(StorybarError, match="start_batch"):
        service.caption_all(requests, lambda result: None)
    assert httpx.get(f"{STAND_IN_URL}/bucket/no").status_code == 404


def test_renders_many_requests_in_an_event_loop() -> None:
    async def run() -> list[int]:
        sizes: list[int] = []

        async def use(result: AsyncBatchResult) -> None:
            sizes.append(-1 if result.file is None else len(await result.file.read()))

        async with AsyncStorybar(**SERVICE) as client:
            await client.caption_all(MANY, use, connections=2)
            async for _ in client.renders():
                break
        return sizes

    sizes = anyio.run(run)
    assert len(sizes) == 3 and sizes.count(-1) == 1


def test_stops_when_a_result_cannot_be_used(service: Storybar) -> None:
    def use(result: BatchResult) -> None:
        raise OSError("The disk is full.")

    with pytest.raises(OSError, match="The disk is full"):
        service.caption_all(MANY, use, connections=1)

"""Against the real service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, AsyncIterator, get_type_hints

import anyio
import pytest

from storybar import AsyncStorybar, Progress, Storybar, StorybarApiError, StorybarConnectionError, StorybarError
from storybar._types import AsyncCaptionFields, LayoutFields, Overlay

from conftest import REPOSITORY, SERVICE, STAND_IN_URL

FONT = REPOSITORY / "node_modules/@expo-google-fonts/bangers/400Regular/Bangers_400Regular.ttf"
PNG = b"\x89PNG\r\n\x1a\n"


def test_captions_a_file_by_its_path_reports_progress_and_saves_the_result(
    service: Storybar, photo: Path, tmp_path: Path
) -> None:
    sent: list[Progress] = []
    received: list[Progress] = []
    render = service.caption(
        photo, text="Golden hour 🌅", on_upload_progress=sent.append, on_download_progress=received.append
    )
    render.save(tmp_path / "captioned.png")
    saved = (tmp_path / "captioned.png").read_bytes()
    assert saved.startswith(PNG)
    assert render.content_type == "image/png"
    assert render.filename == f"{render.render_id}.png"
    assert render.source_type == "image"
    assert render.credits_charged == 1
    assert render.warnings == []
    assert sent[-1] == Progress(photo.stat().st_size, photo.stat().st_size)
    assert received[-1] == Progress(len(saved), len(saved))


def test_gets_the_same_image_for_every_kind_of_asset(service: Storybar, photo: Path) -> None:
    content = photo.read_bytes()
    with photo.open("rb") as file:
        assets: list[Any] = [photo, str(photo), content, file, iter([content[:1000], content[1000:]]), lambda: photo.open("rb")]
        results = {service.caption(asset, overlays=[{"text": "One", "position": 20}, {"text": "Two"}]).read() for asset in assets}
    url = f"{STAND_IN_URL}/files/photo.jpg"
    results.add(service.caption(asset_url=url, overlays=[{"text": "One", "position": 20}, {"text": "Two"}]).read())
    assert len(results) == 1


def test_captions_a_video_and_renders_captions_without_a_file(service: Storybar, clip: Path) -> None:
    with service.caption(clip, text="Wait for it") as video:
        assert video.content_type == "video/mp4"
        assert video.read()[4:8] == b"ftyp"
    assert service.caption(width=320, height=200, text="Alone", lang="en").read().startswith(PNG)


def test_lists_every_fault_of_an_invalid_request_in_one_error(service: Storybar) -> None:
    with pytest.raises(StorybarApiError) as caught:
        service.caption(overlays=[{"text": ""}, {"text": "Too low", "position": 101}])
    error = caught.value
    assert (error.status, error.code) == (400, "invalid_fields")
    faults = {f"{fault.pointer} {fault.code}" for fault in error.faults}
    assert {"#/overlays/0/text blank", "#/overlays/1/position out_of_range", "#/width required"} <= faults
    assert "#/overlays/1/position: " in str(error)
    assert error.render_id


def test_reports_a_refused_key_while_a_large_upload_is_under_way() -> None:
    with Storybar(SERVICE["base_url"], "sb_live_wrong") as client, pytest.raises(StorybarApiError) as caught:
        client.caption((bytes(65_536) for _ in range(200)), text="Secret")
    assert (caught.value.status, caught.value.code) == (401, "invalid_api_key")


def test_gets_the_same_result_free_of_charge_for_the_same_idempotency_key(service: Storybar) -> None:
    first = service.caption(width=320, height=200, text="Once")
    content = first.read()
    second = service.caption(width=320, height=200, text="Once", idempotency_key=first.idempotency_key)
    assert second.is_replay
    assert second.credits_charged == 0
    assert second.read() == content


def test_previews_a_layout_and_reads_usage(service: Storybar) -> None:
    layout = service.layout(width=1080, height=1920, text="Golden hour", duration=11)
    assert layout["bars"][0]["lines"][0]["text"] == "Golden hour"
    assert layout["credits"] == 3
    assert service.usage()["credits"]["limit"] == 50_000
    assert service.usage("2020-01-01", "2020-01-02")["days"] == []


def test_async_client_does_the_same(photo: Path, tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield photo.read_bytes()[:1000]
        yield photo.read_bytes()[1000:]

    async def run() -> None:
        async with AsyncStorybar(**SERVICE) as client:
            render = await client.caption(photo, text="Async")
            await render.save(tmp_path / "captioned.png")
            assert await (await client.caption(chunks(), text="Async")).read() == (tmp_path / "captioned.png").read_bytes()
            assert (await client.layout(width=320, height=200, text="Hi"))["credits"] == 1
            assert (await client.usage())["credits"]["used"] > 0
            with pytest.raises(StorybarApiError) as caught:
                await client.caption(photo, text="")
            assert caught.value.code == "invalid_fields"

    anyio.run(run)


def test_reports_a_server_that_cannot_be_reached_a_missing_file_and_missing_settings(
    service: Storybar, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Storybar("http://127.0.0.1:9", "sb_live_x", max_retries=0) as client, pytest.raises(StorybarConnectionError):
        client.usage()
    with pytest.raises(FileNotFoundError):
        service.caption("no-such-file.jpg", text="x")
    monkeypatch.delenv("STORYBAR_API_KEY", raising=False)
    with pytest.raises(StorybarError, match="api_key"):
        Storybar(SERVICE["base_url"])
    with pytest.raises(StorybarError, match="base_url.*captions"):
        Storybar("captions", "sb_live_x")


def test_has_every_field_of_the_openapi_document() -> None:
    schemas = json.loads((REPOSITORY / "docs/openapi.json").read_text())["components"]["schemas"]
    # These decide how the result is delivered, which methods do here.
    delivery = {"async", "deliver"}
    for name, fields in {"OverlayRequest": AsyncCaptionFields, "LayoutRequest": LayoutFields, "Overlay": Overlay}.items():
        assert set(schemas[name]["properties"]) - delivery <= set(get_type_hints(fields)), name


def test_saves_a_style_with_a_logo_and_deletes_both(service: Storybar) -> None:
    logo = service.logos.add(REPOSITORY / "examples/brand-kit/logo.png")
    assert logo in service.logos.list()
    assert service.logos.get(logo["id"]) == logo
    saved = service.styles.save("python-brand", {"preset": "box", "logo": {"id": logo["id"]}})
    assert saved in service.styles.list()
    assert service.styles.get(f"python-brand@{saved['version']}") == saved
    assert service.layout(width=400, height=800, text="Hi", style="python-brand")["logo"] is not None
    service.styles.delete("python-brand")
    service.logos.delete(logo["id"])
    with pytest.raises(StorybarApiError) as raised:
        service.logos.get(logo["id"])
    assert raised.value.code == "logo_not_found"


def test_uploads_a_font_draws_with_it_and_deletes_it(service: Storybar) -> None:
    font = service.fonts.add(FONT, license_confirmed=True)
    assert font["family"] == "Bangers"
    assert font in service.fonts.list()
    assert service.fonts.get(font["id"]) == font
    layout = service.layout(width=400, height=800, text="Hi", style={"font": font["id"]})
    assert layout["bars"][0]["fonts"][0] == font["id"]
    assert service.caption(width=400, height=800, text="Hi", style={"font": font["id"]}).warnings == []
    service.fonts.delete(font["id"])
    with pytest.raises(StorybarApiError) as raised:
        service.fonts.get(font["id"])
    assert raised.value.code == "font_not_found"
    with pytest.raises(StorybarApiError) as refused:
        service.fonts.add(FONT, license_confirmed=False)
    assert "license_confirmed" in str(refused.value)


def test_the_async_client_has_fonts_too() -> None:
    async def main() -> None:
        async with AsyncStorybar(**SERVICE) as storybar:
            font = await storybar.fonts.add(FONT.read_bytes(), license_confirmed=True)
            assert await storybar.fonts.get(font["id"]) in await storybar.fonts.list()
            await storybar.fonts.delete(font["id"])

    anyio.run(main)


def test_the_async_client_has_styles_and_logos_too() -> None:
    async def main() -> None:
        async with AsyncStorybar(**SERVICE) as storybar:
            logo = await storybar.logos.add(REPOSITORY / "examples/brand-kit/logo.png")
            assert await storybar.logos.get(logo["id"]) in await storybar.logos.list()
            saved = await storybar.styles.save("python-brand-2", {"preset": "box", "logo": {"id": logo["id"]}})
            assert await storybar.styles.get("python-brand-2") == saved
            assert saved in await storybar.styles.list()
            await storybar.styles.delete("python-brand-2")
            await storybar.logos.delete(logo["id"])

    anyio.run(main)

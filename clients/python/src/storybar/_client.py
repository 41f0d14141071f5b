"""The clients. ``Storybar`` and ``AsyncStorybar`` have the same methods."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, cast

import anyio
import httpx

from ._brand import AsyncLogos, AsyncStyles, Logos, Styles
from ._call import (
    SHORTEST_POLL_SECONDS,
    BatchWaiting,
    Call,
    Day,
    Settings,
    Waiting,
    as_render,
    kept,
    new_key,
    require_downloads,
    require_success,
)
from ._errors import (
    StorybarConnectionError,
    StorybarError,
    StorybarRenderError,
    StorybarTimeoutError,
    error_from_response,
)
from ._fonts import AsyncFonts, Fonts
from ._request import Asset, OnProgress
from ._result import AsyncRenderedFile, RenderedFile
from ._retry import delay_before_retry
from ._types import (
    AsyncCaptionFields,
    Batch,
    CaptionFields,
    Layout,
    LayoutFields,
    Render,
    RenderList,
    SucceededRender,
    Usage,
)
from ._webhook_deliveries import AsyncWebhookDeliveries, WebhookDeliveries
from ._webhook_endpoints import AsyncWebhookEndpoints, AsyncWebhookSecret, WebhookEndpoints, WebhookSecret

if TYPE_CHECKING:
    from typing_extensions import Unpack

OnRender = Callable[[Render], None]
OnBatch = Callable[[Batch], None]
LARGEST_PAGE = 100
LARGEST_BATCH = 100


@dataclass(frozen=True)
class BatchResult:
    """The result of one request of ``caption_all``. A render that failed has an ``error`` in place of a ``file``."""

    index: int
    file: RenderedFile | None
    error: StorybarRenderError | None


@dataclass(frozen=True)
class AsyncBatchResult:
    """The result of one request of ``caption_all``. A render that failed has an ``error`` in place of a ``file``."""

    index: int
    file: AsyncRenderedFile | None
    error: StorybarRenderError | None


class Storybar:
    """A client. Use it as a context manager, or close it.

    ``base_url`` and ``api_key`` default to ``STORYBAR_URL`` and ``STORYBAR_API_KEY``. ``timeout`` is how many seconds to
    wait for the next part of the response. ``max_retry_delay`` is the longest ``retry-after`` that is waited for.
    ``headers`` are sent with every request. ``http_client`` sends the requests, for example through a proxy.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 300,
        max_retries: int = 3,
        max_retry_delay: float = 60,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, timeout, max_retries, max_retry_delay, headers)
        self._http = http_client or httpx.Client()
        self.styles = Styles(self._settings, self._read)
        """Styles that the account saved."""
        self.logos = Logos(self._settings, self._read)
        """Logos that the account uploaded."""
        self.fonts = Fonts(self._settings, self._read)
        """Fonts that the account uploaded."""
        self.webhook_endpoints = WebhookEndpoints(self._settings, self._read)
        """URLs that get a signed webhook whenever a render ends or a batch is completed."""
        self.webhook_deliveries = WebhookDeliveries(self._settings, self._read)
        """What was sent to these URLs, and to the ``webhook_url`` of requests."""
        self.webhook_secret = WebhookSecret(self._settings, self._read)
        """The secret that signs webhooks to the ``webhook_url`` of a request."""

    def caption(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        on_download_progress: OnProgress | None = None,
        **fields: Unpack[CaptionFields],
    ) -> RenderedFile:
        """Renders captions and returns the finished file as soon as it begins to arrive."""
        key = idempotency_key or new_key()
        response = self._send(self._settings.overlay(asset, fields, key, on_upload_progress))
        return RenderedFile(response, on_download_progress, idempotency_key=key)

    def caption_to_url(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        **fields: Unpack[CaptionFields],
    ) -> SucceededRender:
        """Renders captions and keeps the result, instead of sending it: its ``output`` has a link. ``download`` gets the bytes."""
        linked = {**fields, "deliver": "url"}
        call = self._settings.overlay(asset, linked, idempotency_key or new_key(), on_upload_progress)
        return require_success(cast(Render, self._read(call).json()))

    def start_render(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        **fields: Unpack[AsyncCaptionFields],
    ) -> Render:
        """Accepts a render and returns at once. Use ``wait_for`` or a webhook to learn when it ends."""
        key = idempotency_key or new_key()
        call = self._settings.overlay(asset, fields, key, on_upload_progress, prefer="respond-async")
        return as_render(self._read(call))

    def get_render(self, render_id: str, *, wait: float | None = None) -> Render:
        """With ``wait``, the server holds the request until the render ends, at most 60 seconds."""
        return cast(Render, self._read(self._settings.render("GET", render_id, wait)).json())

    def wait_for(
        self, render: Render | str, *, timeout: float = 3_600, on_progress: OnRender | None = None
    ) -> SucceededRender:
        """Waits until the render has succeeded. Raises ``StorybarRenderError`` if it failed or was canceled."""
        waiting = Waiting(render, timeout, on_progress is not None)
        while True:
            current = self.get_render(waiting.render_id, wait=waiting.seconds_to_ask_for())
            if on_progress is not None:
                on_progress(current)
            pause = waiting.pause_after(current)
            if pause is None:
                return require_success(current)
            time.sleep(pause)

    def download(self, render: Render, *, on_download_progress: OnProgress | None = None) -> RenderedFile:
        """Downloads the result of a render that has succeeded."""
        success = require_success(render)
        return RenderedFile(self._send(self._settings.result(success)), on_download_progress, render=success)

    def cancel_render(self, render_id: str) -> Optional[Render]:
        """Cancels a render that hasn't ended and returns it. One that has ended is deleted, with its result."""
        return cast(Optional[Render], kept(self._read(self._settings.render("DELETE", render_id))))

    def list_renders(self, *, limit: int | None = None, cursor: str | None = None) -> RenderList:
        """Lists stored renders, newest first. ``cursor`` is ``next_cursor`` of the previous page."""
        return cast(RenderList, self._read(self._settings.page("/v1/renders", limit=limit, cursor=cursor)).json())

    def renders(self) -> Iterator[Render]:
        """Goes through all stored renders, newest first. Pages are read as they are needed."""
        cursor: str | None = None
        while True:
            page = self.list_renders(limit=LARGEST_PAGE, cursor=cursor)
            yield from page["renders"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def start_batch(self, requests: Sequence[AsyncCaptionFields], *, idempotency_key: str | None = None) -> Batch:
        """Accepts up to 100 requests at once. A fault in one refuses all. One that fails later doesn't stop the others."""
        return cast(Batch, self._read(self._settings.start_batch(requests, idempotency_key)).json())

    def get_batch(self, batch_id: str) -> Batch:
        return cast(Batch, self._read(self._settings.batch("GET", batch_id)).json())

    def wait_for_batch(
        self, batch: Batch | str, *, timeout: float = 3_600, on_progress: OnBatch | None = None
    ) -> Batch:
        """Waits until all renders of the batch have ended. Check the status of each, because some may have failed."""
        waiting = BatchWaiting(batch, timeout, on_progress is not None)
        while True:
            asked = time.monotonic()
            current = self.get_batch(waiting.batch_id)
            if on_progress is not None:
                on_progress(current)
            next_render = waiting.next_render(current)
            if next_render is None:
                return current
            render_id, seconds = next_render
            self.get_render(render_id, wait=seconds)
            time.sleep(max(0.0, SHORTEST_POLL_SECONDS - (time.monotonic() - asked)))

    def cancel_batch(self, batch_id: str) -> Optional[Batch]:
        """Cancels renders that haven't ended and returns the batch. A completed batch is deleted, with its results."""
        return cast(Optional[Batch], kept(self._read(self._settings.batch("DELETE", batch_id))))

    def caption_all(
        self,
        requests: Sequence[AsyncCaptionFields],
        use: Callable[[BatchResult], None],
        *,
        connections: int = 4,
    ) -> None:
        """Renders any number of requests in batches and passes each result to ``use``, from up to ``connections`` threads.

        A render that fails doesn't stop the others. An error that ``use`` raises does.
        """
        require_downloads(requests)
        with ThreadPoolExecutor(connections) as pool:
            for first in range(0, len(requests), LARGEST_BATCH):
                renders = self.start_batch(requests[first : first + LARGEST_BATCH])["renders"]
                futures = [
                    pool.submit(lambda index, render: use(self._result_of(index, render)), first + offset, render)
                    for offset, render in enumerate(renders)
                ]
                try:
                    for future in futures:
                        future.result()
                finally:
                    for future in futures:
                        future.cancel()

    def _result_of(self, index: int, render: Render) -> BatchResult:
        try:
            return BatchResult(index, self.download(self.wait_for(render, timeout=math.inf)), None)
        except StorybarRenderError as error:
            return BatchResult(index, None, error)

    def layout(self, **fields: Unpack[LayoutFields]) -> Layout:
        """Returns where the bars of these captions would go and their price. Free."""
        return cast(Layout, self._read(self._settings.call("POST", "/v1/layout", json=dict(fields))).json())

    def usage(self, from_day: Day | None = None, to_day: Day | None = None) -> Usage:
        """Returns the plan, credits, and renders from one day to another. Default: the current billing period."""
        return cast(Usage, self._read(self._settings.usage(from_day, to_day)).json())

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Storybar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _read(self, call: Call) -> httpx.Response:
        response = self._send(call)
        response.read()
        return response

    def _send(self, call: Call) -> httpx.Response:
        attempt = 0
        while True:
            outcome = self._try_once(call)
            if isinstance(outcome, httpx.Response):
                return outcome
            may_retry = call.is_repeatable and attempt < self._settings.max_retries
            delay = delay_before_retry(outcome, attempt, self._settings.max_retry_delay) if may_retry else None
            if delay is None:
                raise outcome
            time.sleep(delay)
            attempt += 1

    def _try_once(self, call: Call) -> httpx.Response | StorybarError:
        request = self._http.build_request(**call.arguments(iter), timeout=self._settings.timeout)
        try:
            response = self._http.send(request, stream=True)
            if response.is_success:
                return response
            response.read()
            return error_from_response(response)
        except httpx.TransportError as error:
            return _transport_error(call, error)


class AsyncStorybar:
    """A client for asyncio and trio. Use it as an async context manager, or close it."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 300,
        max_retries: int = 3,
        max_retry_delay: float = 60,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, timeout, max_retries, max_retry_delay, headers)
        self._http = http_client or httpx.AsyncClient()
        self.styles = AsyncStyles(self._settings, self._read)
        """Styles that the account saved."""
        self.logos = AsyncLogos(self._settings, self._read)
        """Logos that the account uploaded."""
        self.fonts = AsyncFonts(self._settings, self._read)
        """Fonts that the account uploaded."""
        self.webhook_endpoints = AsyncWebhookEndpoints(self._settings, self._read)
        """URLs that get a signed webhook whenever a render ends or a batch is completed."""
        self.webhook_deliveries = AsyncWebhookDeliveries(self._settings, self._read)
        """What was sent to these URLs, and to the ``webhook_url`` of requests."""
        self.webhook_secret = AsyncWebhookSecret(self._settings, self._read)
        """The secret that signs webhooks to the ``webhook_url`` of a request."""

    async def caption(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        on_download_progress: OnProgress | None = None,
        **fields: Unpack[CaptionFields],
    ) -> AsyncRenderedFile:
        """Renders captions and returns the finished file as soon as it begins to arrive."""
        key = idempotency_key or new_key()
        response = await self._send(self._settings.overlay(asset, fields, key, on_upload_progress))
        return AsyncRenderedFile(response, on_download_progress, idempotency_key=key)

    async def caption_to_url(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        **fields: Unpack[CaptionFields],
    ) -> SucceededRender:
        """Renders captions and keeps the result, instead of sending it: its ``output`` has a link. ``download`` gets the bytes."""
        linked = {**fields, "deliver": "url"}
        call = self._settings.overlay(asset, linked, idempotency_key or new_key(), on_upload_progress)
        return require_success(cast(Render, (await self._read(call)).json()))

    async def start_render(
        self,
        asset: Asset | None = None,
        *,
        idempotency_key: str | None = None,
        on_upload_progress: OnProgress | None = None,
        **fields: Unpack[AsyncCaptionFields],
    ) -> Render:
        """Accepts a render and returns at once. Use ``wait_for`` or a webhook to learn when it ends."""
        key = idempotency_key or new_key()
        call = self._settings.overlay(asset, fields, key, on_upload_progress, prefer="respond-async")
        return as_render(await self._read(call))

    async def get_render(self, render_id: str, *, wait: float | None = None) -> Render:
        """With ``wait``, the server holds the request until the render ends, at most 60 seconds."""
        return cast(Render, (await self._read(self._settings.render("GET", render_id, wait))).json())

    async def wait_for(
        self, render: Render | str, *, timeout: float = 3_600, on_progress: OnRender | None = None
    ) -> SucceededRender:
        """Waits until the render has succeeded. Raises ``StorybarRenderError`` if it failed or was canceled."""
        waiting = Waiting(render, timeout, on_progress is not None)
        while True:
            current = await self.get_render(waiting.render_id, wait=waiting.seconds_to_ask_for())
            if on_progress is not None:
                on_progress(current)
            pause = waiting.pause_after(current)
            if pause is None:
                return require_success(current)
            await anyio.sleep(pause)

    async def download(self, render: Render, *, on_download_progress: OnProgress | None = None) -> AsyncRenderedFile:
        """Downloads the result of a render that has succeeded."""
        success = require_success(render)
        return AsyncRenderedFile(await self._send(self._settings.result(success)), on_download_progress, render=success)

    async def cancel_render(self, render_id: str) -> Optional[Render]:
        """Cancels a render that hasn't ended and returns it. One that has ended is deleted, with its result."""
        return cast(Optional[Render], kept(await self._read(self._settings.render("DELETE", render_id))))

    async def list_renders(self, *, limit: int | None = None, cursor: str | None = None) -> RenderList:
        """Lists stored renders, newest first. ``cursor`` is ``next_cursor`` of the previous page."""
        call = self._settings.page("/v1/renders", limit=limit, cursor=cursor)
        return cast(RenderList, (await self._read(call)).json())

    async def renders(self) -> AsyncIterator[Render]:
        """Goes through all stored renders, newest first. Pages are read as they are needed."""
        cursor: str | None = None
        while True:
            page = await self.list_renders(limit=LARGEST_PAGE, cursor=cursor)
            for render in page["renders"]:
                yield render
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def start_batch(self, requests: Sequence[AsyncCaptionFields], *, idempotency_key: str | None = None) -> Batch:
        """Accepts up to 100 requests at once. A fault in one refuses all. One that fails later doesn't stop the others."""
        return cast(Batch, (await self._read(self._settings.start_batch(requests, idempotency_key))).json())

    async def get_batch(self, batch_id: str) -> Batch:
        return cast(Batch, (await self._read(self._settings.batch("GET", batch_id))).json())

    async def wait_for_batch(
        self, batch: Batch | str, *, timeout: float = 3_600, on_progress: OnBatch | None = None
    ) -> Batch:
        """Waits until all renders of the batch have ended. Check the status of each, because some may have failed."""
        waiting = BatchWaiting(batch, timeout, on_progress is not None)
        while True:
            asked = time.monotonic()
            current = await self.get_batch(waiting.batch_id)
            if on_progress is not None:
                on_progress(current)
            next_render = waiting.next_render(current)
            if next_render is None:
                return current
            render_id, seconds = next_render
            await self.get_render(render_id, wait=seconds)
            await anyio.sleep(max(0.0, SHORTEST_POLL_SECONDS - (time.monotonic() - asked)))

    async def cancel_batch(self, batch_id: str) -> Optional[Batch]:
        """Cancels renders that haven't ended and returns the batch. A completed batch is deleted, with its results."""
        return cast(Optional[Batch], kept(await self._read(self._settings.batch("DELETE", batch_id))))

    async def caption_all(
        self,
        requests: Sequence[AsyncCaptionFields],
        use: Callable[[AsyncBatchResult], Awaitable[None]],
        *,
        connections: int = 4,
    ) -> None:
        """Renders any number of requests in batches and passes each result to ``use``, up to ``connections`` at a time.

        A render that fails doesn't stop the others. An error that ``use`` raises does.
        """
        require_downloads(requests)
        limiter = anyio.Semaphore(connections)

        async def finish(index: int, render: Render) -> None:
            async with limiter:
                await use(await self._result_of(index, render))

        for first in range(0, len(requests), LARGEST_BATCH):
            renders = (await self.start_batch(requests[first : first + LARGEST_BATCH]))["renders"]
            async with anyio.create_task_group() as group:
                for offset, render in enumerate(renders):
                    group.start_soon(finish, first + offset, render)

    async def _result_of(self, index: int, render: Render) -> AsyncBatchResult:
        try:
            return AsyncBatchResult(index, await self.download(await self.wait_for(render, timeout=math.inf)), None)
        except StorybarRenderError as error:
            return AsyncBatchResult(index, None, error)

    async def layout(self, **fields: Unpack[LayoutFields]) -> Layout:
        """Returns where the bars of these captions would go and their price. Free."""
        return cast(Layout, (await self._read(self._settings.call("POST", "/v1/layout", json=dict(fields)))).json())

    async def usage(self, from_day: Day | None = None, to_day: Day | None = None) -> Usage:
        """Returns the plan, credits, and renders from one day to another. Default: the current billing period."""
        return cast(Usage, (await self._read(self._settings.usage(from_day, to_day))).json())

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncStorybar:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _read(self, call: Call) -> httpx.Response:
        response = await self._send(call)
        await response.aread()
        return response

    async def _send(self, call: Call) -> httpx.Response:
        attempt = 0
        while True:
            outcome = await self._try_once(call)
            if isinstance(outcome, httpx.Response):
                return outcome
            may_retry = call.is_repeatable and attempt < self._settings.max_retries
            delay = delay_before_retry(outcome, attempt, self._settings.max_retry_delay) if may_retry else None
            if delay is None:
                raise outcome
            await anyio.sleep(delay)
            attempt += 1

    async def _try_once(self, call: Call) -> httpx.Response | StorybarError:
        request = self._http.build_request(**call.arguments(aiter), timeout=self._settings.timeout)
        try:
            response = await self._http.send(request, stream=True)
            if response.is_success:
                return response
            await response.aread()
            return error_from_response(response)
        except httpx.TransportError as error:
            return _transport_error(call, error)


def _transport_error(call: Call, error: httpx.TransportError) -> StorybarError:
    kind: Any = StorybarTimeoutError if isinstance(error, httpx.TimeoutException) else StorybarConnectionError
    result: StorybarError = kind(f"{call.method} {call.url} failed: {error or type(error).__name__}")
    result.__cause__ = error
    return result

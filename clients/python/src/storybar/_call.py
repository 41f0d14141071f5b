"""Code that both clients share: settings, and requests described before they are sent."""

from __future__ import annotations

import datetime
import os
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, Union, cast
from urllib.parse import quote, urljoin

import httpx

from ._errors import StorybarError, StorybarRenderError, StorybarTimeoutError
from ._request import Asset, OnProgress, Upload, openable
from ._types import AsyncCaptionFields, Batch, Render, SucceededRender

LONG_POLL_SECONDS = 20
# For callers that show the progress of a render or batch.
PROGRESS_POLL_SECONDS = 2
# Prevents a tight loop with a server that doesn't hold the request open.
SHORTEST_POLL_SECONDS = 1.0
FINISHED = ("succeeded", "failed", "canceled")
Day = Union[str, datetime.date]


@dataclass(frozen=True)
class Call:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    upload: Callable[[], Upload] | None = None
    """Called once per attempt, because a stream can be sent only once."""
    is_repeatable: bool = True

    def arguments(self, chunks: Callable[[Upload], Any]) -> dict[str, Any]:
        """``chunks`` is ``iter`` or ``aiter``, because httpx must be told which of the two an upload is."""
        if self.upload is None:
            body = {} if self.json is None else {"json": self.json}
            return {"method": self.method, "url": self.url, "headers": dict(self.headers), **body}
        upload = self.upload()
        return {"method": self.method, "url": self.url, "headers": {**self.headers, **upload.headers}, "content": chunks(upload)}


class Settings:
    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        max_retries: int,
        max_retry_delay: float,
        headers: Mapping[str, str] | None,
    ) -> None:
        url = base_url or os.environ.get("STORYBAR_URL")
        key = api_key or os.environ.get("STORYBAR_API_KEY")
        if not url or not url.startswith(("http://", "https://")):
            raise StorybarError(f"`base_url` must be the URL of a Storybar server; got {url!r}.")
        if not key:
            raise StorybarError("`api_key` is required.")
        self.base_url = url.rstrip("/")
        self.api_key = key
        self.timeout = timeout
        self.max_retries = max_retries
        self.max_retry_delay = max_retry_delay
        self.headers = dict(headers or {})

    def call(self, method: str, path: str, **rest: Any) -> Call:
        own = {"x-api-key": self.api_key, **rest.pop("headers", {})}
        headers = {"user-agent": "storybar-python", **self.headers, **own}
        return Call(method, f"{self.base_url}{path}", headers, **rest)

    def overlay(
        self,
        asset: Asset | None,
        fields: Mapping[str, Any],
        idempotency_key: str,
        on_progress: OnProgress | None,
        **headers: str,
    ) -> Call:
        known = {name: value for name, value in fields.items() if value is not None}
        all_headers = {"idempotency-key": idempotency_key, **headers}
        if asset is None:
            return self.call("POST", "/v1/overlay", headers=all_headers, json=known)
        file = openable(asset)
        return self.call(
            "POST",
            "/v1/overlay",
            headers=all_headers,
            upload=lambda: Upload(known, file, on_progress),
            is_repeatable=file.is_repeatable,
        )

    def render(self, method: str, render_id: str, wait: float | None = None) -> Call:
        query = "" if wait is None else f"?wait={wait:g}"
        return self.call(method, f"/v1/renders/{quote(render_id, safe='')}{query}")

    def page(self, path: str, **given: Union[int, str, None]) -> Call:
        values = {name: str(value) for name, value in given.items() if value is not None}
        query = f"?{httpx.QueryParams(values)}" if values else ""
        return self.call("GET", f"{path}{query}")

    def start_batch(self, requests: Sequence[Mapping[str, Any]], idempotency_key: str | None) -> Call:
        headers = {"idempotency-key": idempotency_key or new_key()}
        return self.call("POST", "/v1/batches", headers=headers, json={"requests": [dict(each) for each in requests]})

    def batch(self, method: str, batch_id: str) -> Call:
        return self.call(method, f"/v1/batches/{quote(batch_id, safe='')}")

    def usage(self, from_day: Day | None, to_day: Day | None) -> Call:
        days = {name: str(day) for name, day in (("from", from_day), ("to", to_day)) if day is not None}
        query = f"?{httpx.QueryParams(days)}" if days else ""
        return self.call("GET", f"/v1/usage{query}")

    def result(self, render: SucceededRender) -> Call:
        """Sends no key, because the URL may be on another host."""
        url = render["output"]["url"]
        if url is None:
            raise StorybarError("The file was sent to its put_url. No copy is kept.")
        return Call("GET", urljoin(self.base_url, url))


class Waiting:
    """Decides how to wait for a render: how long per request, when it is over, and when to give up."""

    def __init__(self, render: Render | str, timeout: float, has_progress: bool) -> None:
        self._longest = PROGRESS_POLL_SECONDS if has_progress else LONG_POLL_SECONDS
        self.render_id = render if isinstance(render, str) else render["id"]
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._asked = 0.0

    def seconds_to_ask_for(self) -> int:
        self._asked = time.monotonic()
        return max(0, int(min(self._longest, self._deadline - self._asked + 0.999)))

    def pause_after(self, render: Render) -> float | None:
        """Returns seconds until the next request, or None if the render has succeeded."""
        if render["status"] in FINISHED:
            require_success(render)
            return None
        if time.monotonic() >= self._deadline:
            raise StorybarTimeoutError(f"The render {self.render_id} did not end within {self._timeout:g} seconds.")
        return max(0.0, SHORTEST_POLL_SECONDS - (time.monotonic() - self._asked))


class BatchWaiting:
    """Decides which render of a batch to wait for next."""

    def __init__(self, batch: Batch | str, timeout: float, has_progress: bool) -> None:
        self._longest = PROGRESS_POLL_SECONDS if has_progress else LONG_POLL_SECONDS
        self.batch_id = batch if isinstance(batch, str) else batch["id"]
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout

    def next_render(self, batch: Batch) -> tuple[str, int] | None:
        """Returns the id of a render and the seconds to wait, or None if all have ended."""
        unfinished = [render["id"] for render in batch["renders"] if render["status"] not in FINISHED]
        if not unfinished:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise StorybarTimeoutError(f"The batch {self.batch_id} did not end within {self._timeout:g} seconds.")
        return unfinished[0], int(min(self._longest, left + 0.999))


def require_downloads(requests: Sequence[AsyncCaptionFields]) -> None:
    """Refuses requests whose results go to a bucket, because no copy is kept that could be downloaded."""
    if any(request.get("put_url") is not None for request in requests):
        raise StorybarError("caption_all downloads the results, so use start_batch for requests with put_url.")


def require_success(render: Render) -> SucceededRender:
    """Returns a render that has succeeded, or raises its error."""
    if render["status"] == "succeeded":
        return render
    unknown = {"detail": f"The render {render['id']} has the status {render['status']}."}
    error: Mapping[str, Any] = render["error"] or unknown
    # A canceled render has no error of its own, so its status is the code.
    raise StorybarRenderError(error.get("status", 0), {"code": render["status"], **error, "instance": render["id"]})


def new_key() -> str:
    return str(uuid.uuid4())


def kept(response: httpx.Response) -> Any:
    """Returns the canceled render or batch, or None if it had ended and was deleted."""
    return None if response.status_code == 204 else response.json()


def as_render(response: httpx.Response) -> Render:
    if response.status_code == 202:
        return cast(Render, response.json())
    raise StorybarError("The server rendered at once, so it is too old for asynchronous renders. Use `caption`.")

"""Every error this package raises."""

from __future__ import annotations

import datetime
import email.utils
import json
from dataclasses import dataclass
from typing import Any, Mapping

import httpx


class StorybarError(Exception):
    """The base class of all errors."""


class StorybarConnectionError(StorybarError):
    """The server could not be reached, or the connection broke."""


class StorybarTimeoutError(StorybarError):
    """The response, or the end of an asynchronous render, did not arrive in time."""


class StorybarWebhookError(StorybarError):
    """A webhook whose signature, age or body is wrong."""


@dataclass(frozen=True)
class FieldFault:
    """One invalid field."""

    pointer: str
    """The place of the field, such as ``#/overlays/1/position``."""
    code: str
    detail: str


class StorybarApiError(StorybarError):
    """The server responded with an error."""

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any],
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        self.status = status
        self.request_id = request_id
        """The id under which the operator of the server finds the request."""
        self.code: str = problem.get("code") or f"http_{status}"
        """Servers may send newer codes than the documented ones, so handle unknown codes by ``status``."""
        self.faults = [
            FieldFault(str(fault.get("pointer")), str(fault.get("code")), str(fault.get("detail")))
            for fault in problem.get("errors") or []
        ]
        """Every invalid field. Empty unless ``code`` is ``invalid_fields``."""
        self.render_id: str | None = problem.get("instance")
        self.retry_after = retry_after
        """Seconds to wait before another attempt, if the server sent them."""
        self.problem = problem
        """The whole error as the server sent it, with fields such as ``limit``, ``actual`` and ``renewsAt``."""
        detail = problem.get("detail") or problem.get("title") or f"The server responded with status {status}."
        super().__init__("\n".join([detail, *(f"{fault.pointer}: {fault.detail}" for fault in self.faults)]))


class StorybarRenderError(StorybarApiError):
    """An asynchronous render failed or was canceled."""


def error_from_response(response: httpx.Response) -> StorybarApiError:
    """Takes a response whose body was read."""
    problem: Any = None
    if "json" in response.headers.get("content-type", ""):
        try:
            problem = json.loads(response.content)
        except ValueError:
            # A proxy cut the body off. The status still tells the kind of error.
            problem = None
    facts = problem if isinstance(problem, dict) else {}
    request_id = response.headers.get("x-request-id")
    return StorybarApiError(response.status_code, facts, _retry_after(response), request_id)


def _retry_after(response: httpx.Response) -> float | None:
    """Returns seconds. The header may also be a date."""
    value = response.headers.get("retry-after")
    if value is None:
        return None
    if value.isdigit():
        return float(value)
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date - datetime.datetime.now(datetime.timezone.utc)).total_seconds())

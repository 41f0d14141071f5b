"""Decides when to retry, and how long to wait before that."""

from __future__ import annotations

import random

from ._errors import StorybarApiError, StorybarError

FIRST_DELAY_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 8.0
# Statuses of gateway errors, and of temporary errors of the service. 500 is safe because renders have an idempotency key.
PASSING_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504})
# These codes have a status of temporary errors, but the same request would fail again.
LASTING_CODES = frozenset({"quota_exceeded", "deadline_exceeded", "too_many_failed_keys", "upload_too_slow"})


def delay_before_retry(error: StorybarError, attempt: int, longest_seconds: float) -> float | None:
    """Returns seconds, or None if the error is final."""
    backoff = min(FIRST_DELAY_SECONDS * 2.0**attempt, LONGEST_BACKOFF_SECONDS) * random.uniform(0.5, 1)
    if not isinstance(error, StorybarApiError):
        return backoff
    if error.status not in PASSING_STATUSES or error.code in LASTING_CODES:
        return None
    if error.retry_after is None:
        return backoff
    return error.retry_after if error.retry_after <= longest_seconds else None

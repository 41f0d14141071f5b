"""Verifies webhooks, which are signed as https://www.standardwebhooks.com describes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, Mapping, Protocol, Sequence, Tuple, cast

from ._errors import StorybarWebhookError
from ._types import WebhookEvent


class Headers(Protocol):
    """A dictionary, or the headers of a request in ``http.server``, Flask, Django, Starlette and others."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify_webhook(
    body: str | bytes,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """Returns the event if its signature is valid and recent.

    Pass the body exactly as received. ``secret`` can be several secrets while you rotate them.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        _header(lower, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    _check_age(timestamp, tolerance_seconds)
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode(errors="replace") + raw
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [hmac.new(_key(each), signed, hashlib.sha256).digest() for each in secrets]
    for signature in signatures.split(" "):
        version, _, encoded = signature.partition(",")
        received = _decode(encoded) if version == "v1" else None
        if received is not None and any(hmac.compare_digest(received, digest) for digest in expected):
            return _parse(raw)
    raise StorybarWebhookError(
        "The webhook's signature doesn't match. Check the secret, and pass the body unchanged."
    )


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise StorybarWebhookError(f"The webhook has no `{name}` header.")
    return value


def _check_age(timestamp: str, tolerance_seconds: float) -> None:
    if not re.fullmatch("[0-9]{1,15}", timestamp):
        raise StorybarWebhookError(f'`webhook-timestamp` must be seconds since 1970; got "{timestamp}".')
    age = time.time() - int(timestamp)
    if abs(age) > tolerance_seconds:
        raise StorybarWebhookError(
            f"The webhook was sent {round(age)} seconds ago; at most {tolerance_seconds:g} are accepted."
        )


def _key(secret: str) -> bytes:
    key = _decode(secret.removeprefix("whsec_"))
    if not key:
        raise StorybarWebhookError("The webhook secret isn't valid base64.")
    return key


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _parse(raw: bytes) -> WebhookEvent:
    try:
        event: Any = json.loads(raw)
    except ValueError as error:
        raise StorybarWebhookError("The webhook's body isn't valid JSON.") from error
    return cast(WebhookEvent, event)

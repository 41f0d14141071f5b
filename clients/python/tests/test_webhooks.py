"""Signatures from the example in the Standard Webhooks specification and from this machine."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

import pytest

from storybar import StorybarWebhookError, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"a secret for the tests of webhooks").decode()
OTHER = "whsec_" + base64.b64encode(b"a secret that was rotated long ago").decode()
BODY = json.dumps({"type": "render.succeeded", "timestamp": "2026-03-01T12:00:00Z", "data": {"id": "r1 🌅"}})


def signed(secret: str = SECRET, body: str = BODY, age: int = 0) -> dict[str, str]:
    seconds = int(time.time()) - age
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"msg_1.{seconds}.{body}".encode(), hashlib.sha256).digest()
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(seconds),
        "Webhook-Signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def test_accepts_the_published_example() -> None:
    # From the test vectors of https://github.com/standard-webhooks/standard-webhooks.
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    event = verify_webhook('{"test": 2432232314}', headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", tolerance_seconds=1e12)
    assert dict(event) == {"test": 2432232314}


def test_accepts_text_and_bytes_one_of_several_secrets_and_one_of_several_signatures() -> None:
    assert verify_webhook(BODY, signed(), SECRET)["data"]["id"] == "r1 🌅"
    assert verify_webhook(BODY.encode(), signed(), [OTHER, SECRET])["type"] == "render.succeeded"
    headers = signed()
    headers["Webhook-Signature"] = f"v1a,unknown v1,AAAA v1,not*base64 {headers['Webhook-Signature']}"
    verify_webhook(BODY, headers, SECRET)


@pytest.mark.parametrize(
    ("body", "changes", "secret"),
    [
        (BODY.replace("succeeded", "failed"), {}, SECRET),
        (BODY, {}, OTHER),
        (BODY, {"Webhook-Id": "msg_2"}, SECRET),
        (BODY, {"Webhook-Signature": signed()["Webhook-Signature"].replace("v1,", "v2,")}, SECRET),
    ],
)
def test_refuses_a_signature_that_does_not_match(body: str, changes: dict[str, str], secret: str) -> None:
    with pytest.raises(StorybarWebhookError, match="signature doesn't match"):
        verify_webhook(body, {**signed(), **changes}, secret)


@pytest.mark.parametrize("age", [301, -302])
def test_refuses_webhooks_that_are_too_old_or_from_the_future(age: int) -> None:
    with pytest.raises(StorybarWebhookError, match="seconds ago"):
        verify_webhook(BODY, signed(age=age), SECRET)
    verify_webhook(BODY, signed(age=age), SECRET, tolerance_seconds=600)


@pytest.mark.parametrize("timestamp", ["", "soon", "-1", "1e9", "²", "9" * 5_000])
def test_refuses_a_timestamp_that_is_not_a_number_of_seconds(timestamp: str) -> None:
    with pytest.raises(StorybarWebhookError, match="webhook-timestamp"):
        verify_webhook(BODY, {**signed(), "Webhook-Timestamp": timestamp}, SECRET)


def test_refuses_missing_headers_and_bad_secrets() -> None:
    headers = signed()
    del headers["Webhook-Id"]
    with pytest.raises(StorybarWebhookError, match="webhook-id"):
        verify_webhook(BODY, headers, SECRET)
    with pytest.raises(StorybarWebhookError, match="secret"):
        verify_webhook(BODY, signed(), "whsec_*")

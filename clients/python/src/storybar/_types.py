"""What the API takes and returns, as it appears in JSON."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Sequence, TypedDict, Union


class Style(TypedDict, total=False):
    preset: str
    color: str
    background: str
    size: float
    align: Literal["left", "center", "right"]
    weight: Literal["regular", "bold"]


class _OverlayText(TypedDict):
    text: str


class Overlay(_OverlayText, total=False):
    position: Optional[float]
    lang: Optional[str]
    start: Optional[float]
    end: Optional[float]
    style: Union[str, Style, None]


class LayoutFields(TypedDict, total=False):
    """The fields of ``layout``; see the API reference."""

    width: int
    height: int
    text: str
    overlays: Sequence[Overlay]
    captions: str
    lang: str
    strict: bool
    duration: float
    position: float
    style: Union[str, Style]
    safe_area: str


class CaptionFields(TypedDict, total=False):
    """The fields of a render, apart from the file; see the API reference. Servers refuse those they don't know yet."""

    asset_url: str
    width: int
    height: int
    text: str
    overlays: Sequence[Overlay]
    lang: str
    strict: bool
    format: Literal["png", "jpeg", "jpg", "webp", "mp4"]
    quality: int
    captions: str
    position: float
    style: Union[str, Style]
    safe_area: Literal["none", "tiktok", "reels", "shorts", "stories", "all"]


class AsyncCaptionFields(CaptionFields, total=False):
    webhook_url: str
    """Gets a signed webhook when the render ends."""


class LayoutLine(TypedDict):
    text: str
    x: float
    width: float
    baseline: float


class LayoutBar(TypedDict):
    x: float
    y: float
    width: float
    height: float
    font_size: float
    direction: Literal["ltr", "rtl"]
    lines: List[LayoutLine]
    fonts: List[str]
    missing_characters: List[str]
    warnings: List[str]


class Layout(TypedDict):
    width: int
    height: int
    bars: List[LayoutBar]
    warnings: List[str]
    credits: int


class UsagePlan(TypedDict):
    name: str
    title: str
    credits: int
    requests_per_minute: int
    concurrent_renders: int
    limits: Dict[str, int]


class UsagePeriod(TypedDict):
    starts_at: str
    ends_at: str
    renews: bool


class UsageCredits(TypedDict):
    limit: int
    used: int
    reserved: int
    remaining: int


Usage = TypedDict(
    "Usage",
    {
        "plan": UsagePlan,
        "period": UsagePeriod,
        "credits": UsageCredits,
        "from": str,
        "to": str,
        "days": List[Dict[str, Any]],
        "keys": List[Dict[str, Any]],
    },
)


class RenderOutput(TypedDict):
    url: str
    """Needs no API key and works until ``expires_at``."""
    content_type: str
    bytes: int
    width: int
    height: int
    duration: Optional[float]


class _RenderState(TypedDict):
    id: str
    status: Literal["queued", "rendering", "succeeded", "failed", "canceled"]
    progress: float
    """From 0 to 1."""
    source_type: Optional[str]
    credits: Optional[int]
    """What was charged. None until it has ended."""
    test: bool
    warnings: List[str]
    missing_glyphs: int
    source_pixels: Optional[str]
    batch_id: Optional[str]
    created_at: str
    started_at: Optional[str]
    finished_at: Optional[str]
    expires_at: Optional[str]
    """Until when the result can be downloaded."""
    error: Optional[Dict[str, Any]]


class Render(_RenderState):
    output: Optional[RenderOutput]
    """None until it has succeeded."""


class SucceededRender(_RenderState):
    output: RenderOutput


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    events: List[str]
    """Empty: all of them."""
    status: Literal["enabled", "disabled"]
    disabled_reason: Optional[Literal["user", "gone", "failing"]]
    disabled_at: Optional[str]
    failing_since: Optional[str]
    created_at: str


class WebhookEndpointWithSecret(WebhookEndpoint):
    secret: str
    """Shown only once. ``verify_webhook`` needs it."""


class WebhookDelivery(TypedDict):
    """One webhook on its way to one URL."""

    id: str
    endpoint_id: Optional[str]
    url: str
    webhook_id: str
    type: str
    status: Literal["pending", "succeeded", "failed"]
    attempt_count: int
    next_attempt_at: Optional[str]
    last_status: Optional[int]
    last_error: Optional[str]
    created_at: str
    finished_at: Optional[str]


class RenderList(TypedDict):
    renders: List[Render]
    """Newest first."""
    next_cursor: Optional[str]
    """The ``cursor`` of the next page; None on the last one."""


class Batch(TypedDict):
    id: str
    status: Literal["running", "completed"]
    """``completed`` when all its renders have ended, however they ended."""
    queued: int
    rendering: int
    succeeded: int
    failed: int
    canceled: int
    credits: int
    renders: List[Render]
    """In the order of the requests."""


class WebhookEvent(TypedDict):
    type: str
    """``render.succeeded``, ``render.failed``, ``render.canceled``, ``batch.completed`` or ``webhook.test``."""
    timestamp: str
    data: Any
    """The render, or the batch."""

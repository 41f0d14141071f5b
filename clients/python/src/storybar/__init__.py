"""Client for Storybar: story-style captions on photos and videos."""

from ._client import AsyncStorybar, Storybar
from ._errors import (
    FieldFault,
    StorybarApiError,
    StorybarConnectionError,
    StorybarError,
    StorybarRenderError,
    StorybarTimeoutError,
    StorybarWebhookError,
)
from ._request import Asset, Progress
from ._result import AsyncRenderedFile, RenderedFile
from ._types import (
    Batch,
    Layout,
    LayoutBar,
    Overlay,
    Render,
    RenderList,
    RenderOutput,
    Style,
    SucceededRender,
    Usage,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointWithSecret,
    WebhookEvent,
)
from ._webhooks import verify_webhook

__all__ = [
    "Asset",
    "AsyncRenderedFile",
    "AsyncStorybar",
    "Batch",
    "FieldFault",
    "Layout",
    "LayoutBar",
    "Overlay",
    "Progress",
    "Render",
    "RenderList",
    "RenderOutput",
    "RenderedFile",
    "Storybar",
    "StorybarApiError",
    "StorybarConnectionError",
    "StorybarError",
    "StorybarRenderError",
    "StorybarTimeoutError",
    "StorybarWebhookError",
    "Style",
    "SucceededRender",
    "Usage",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEndpointWithSecret",
    "WebhookEvent",
    "verify_webhook",
]

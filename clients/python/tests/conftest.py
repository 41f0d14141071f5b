"""Where the service and the stand-in for it run. `npm run test:clients` in the repository starts both."""

import os
from pathlib import Path
from typing import Any, Iterator

import pytest

from storybar import Storybar

REPOSITORY = Path(__file__).parents[3]


def setting(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        pytest.exit(f"{name} is missing. Run `npm run test:clients` in the repository.", returncode=1)
    return value


SERVICE: dict[str, Any] = {"base_url": setting("TESTS_URL"), "api_key": setting("TESTS_KEY")}
STAND_IN_URL = setting("STORYBAR_STAND_IN_URL")
STAND_IN: dict[str, Any] = {"base_url": STAND_IN_URL, "api_key": "sb_live_stand_in"}


@pytest.fixture
def service() -> Iterator[Storybar]:
    with Storybar(**SERVICE) as client:
        yield client


@pytest.fixture
def stand_in() -> Iterator[Storybar]:
    with Storybar(**STAND_IN) as client:
        yield client


@pytest.fixture
def photo() -> Path:
    return REPOSITORY / "examples/photo.jpg"


@pytest.fixture
def clip() -> Path:
    return REPOSITORY / "examples/clip.mp4"

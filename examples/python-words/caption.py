#!/usr/bin/env python3
"""Puts the words of a transcript on a video, each when it is spoken.

    pip install ./clients/python
    STORYBAR_URL=... STORYBAR_API_KEY=... python3 caption.py clip.mp4 transcript.json

The transcript is what a speech-to-text service returned (OpenAI, whisper.cpp, Deepgram, AssemblyAI, ElevenLabs), or an SRT or
WebVTT file.
"""

import sys
from pathlib import Path

from storybar import Storybar, StorybarApiError

if len(sys.argv) != 3:
    sys.exit("Usage: caption.py VIDEO TRANSCRIPT")
video, transcript = (Path(argument) for argument in sys.argv[1:])

with Storybar() as client:
    try:
        render = client.start_render(
            video,
            captions=transcript.read_text(encoding="utf-8"),
            style={"preset": "outline", "highlight": "pop", "case": "upper"},
            max_words=3,
            max_lines=1,
        )
        finished = client.wait_for(render, on_progress=lambda current: print(f"{current['progress']:.0%}"))
        result = client.download(finished)
        result.save(video.with_name(f"{video.stem}-captioned.mp4"))
    except StorybarApiError as error:
        sys.exit(str(error))
    print(video.with_name(f"{video.stem}-captioned.mp4"), *result.warnings)

"""What something took last time, in seconds of wall time by name: whoever waits for it again is told."""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def known(file: Path) -> dict[str, float]:
    """What is kept; nothing where that cannot be read: it is no more than a word to who waits."""
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        return {}


def keep(file: Path, took_s: Mapping[str, float]) -> None:
    """Keep it in place of what was; of those who do so side by side the last one's stays, whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(took_s))
    new.replace(file)

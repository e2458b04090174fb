"""What a lab is made of, as images/pins says: versions, and digests where their source gives one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from causeway import folders


@dataclass(frozen=True)
class Pin:
    """A version of one thing, and its source's digest ("sha256:HEX", Go's "h1:BASE64"), "" where there is none."""

    kind: str
    name: str
    version: str
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.version} {self.digest}".rstrip()


def file() -> Path:
    return folders.REPO / "images" / "pins"


def read(text: str) -> list[Pin]:
    """The pins of a file's text, in its order."""
    return [Pin(*line.split()) for line in text.splitlines() if line and not line.startswith("#")]


def of(kinds: Collection[str]) -> list[Pin]:
    """What is pinned of some kinds."""
    return [pin for pin in read(file().read_text()) if pin.kind in kinds]


def written(before: str, pins: Sequence[Pin]) -> str:
    """A file's text with other pins; its comments stay on top."""
    comments = [line for line in before.splitlines() if line.startswith("#")]
    return "\n".join([*comments, *map(str, pins)]) + "\n"


def changes(before: Sequence[Pin], after: Sequence[Pin]) -> list[str]:
    """What another set of pins changes, a line for each thing: old version, new version."""
    old = {(pin.kind, pin.name): pin for pin in before}
    new = {(pin.kind, pin.name): pin for pin in after}
    said = []
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        versions = [pin.version if pin else "none" for pin in (was, now)]
        other = " (another digest)" if versions[0] == versions[1] else ""
        said.append(f"{' '.join(key)}: {versions[0]} -> {versions[1]}{other}")
    return said

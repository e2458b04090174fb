"""What tests of mistakes share: a file with some of its text replaced, and what is said of it."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.model.load import load_site


def replaced(text: str, *replacements: tuple[str, str]) -> str:
    """A text with some of it replaced, each where it stands first."""
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def mistakes(text: str, folder: Path, counts: dict[str, int] | None = None) -> list[str]:
    """What load_site says of a file of this text; each line without the file's name."""
    file = folder / "site.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        load_site(file, counts)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{file}:") for line in lines)
    return [line.removeprefix(f"{file}:").lstrip() for line in lines]


def line_of(text: str, piece: str) -> int:
    """The number of the only line that holds a piece of text."""
    numbers = [n for n, line in enumerate(text.splitlines(), 1) if piece in line]
    assert len(numbers) == 1, (piece, numbers)
    return numbers[0]

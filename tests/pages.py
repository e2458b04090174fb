"""Types what the pages of docs/ have one type, as a new user would: line by line, in a folder with Causeway in it.

    python -m tests.pages                      every block that takes a lab, of every page by reader
    python -m tests.pages training.md:2 ...    the second block of a page

A block that is fenced as `sh` is typed; one that is fenced as `console` is shown, for it takes production's nodes or
other machines. A file's name after the language (as in ```yaml mine/site.yaml) says that the block is that file, which
is there before anything is typed; `~~~` fences one that has fences itself. A line ends with 0, or with what its comment
says: "ends with 1".

Exit codes: 0 all is well, 1 it is not.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from causeway.folders import REPO

#: The pages for a reader, each with something to type.
PAGES = ("training.md", "ci.md", "rehearsing.md", "collect.md", "writing.md")
#: Seconds that one line may take: a boot, an election, a lesson, on a slow machine.
TIMEOUT_S = 1800
#: Commands of the tool that need no lab, whatever their options.
_AT_ONCE = {"graph", "render", "collect", "import", "hash", "size", "schema"}
#: Options by which others need none.
_WITHOUT = {"--predict", "--list", "list"}


@dataclass(frozen=True)
class Block:
    """What is typed in one go; `number` counts those of its page, from 1."""

    page: str
    number: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"

    @property
    def at_once(self) -> bool:
        """Whether no line needs a lab."""
        return all(map(_at_once, self.lines))


def _at_once(line: str) -> bool:
    words = shlex.split(line, comments=True)
    return words[0] != "bin/causeway" or words[1] in _AT_ONCE or bool(_WITHOUT & set(words[2:]))


def blocks(page: str) -> list[Block]:
    """What a page has one type. A shell is left out, which takes a terminal."""
    found = re.findall(r"^```sh\n(.*?)^```", (REPO / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)
    typed = [[line for line in text.splitlines() if line and " shell " not in line] for text in found]
    return [Block(page, number, tuple(lines)) for number, lines in enumerate(typed, 1)]


def files(page: str) -> Iterator[tuple[str, str]]:
    """The files that a page has one write, each with its text. Those of a forge, which begin with a dot, are not."""
    text = (REPO / "docs" / page).read_text()
    for _, name, contents in re.findall(r"^(```|~~~)\w+ (?!\.)(\S+)\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL):
        yield name, contents


def new_user(folder: Path, page: str) -> Path:
    """A folder in which Causeway's own things are, and the files that the page has one write."""
    for own in sorted(REPO.iterdir()):
        if own.name not in (".git", "runs", "rendered"):
            (folder / own.name).symlink_to(own)
    for name, text in files(page):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def due(line: str) -> int:
    """The exit code with which a line ends."""
    said = re.search(r"#.*\bends with (\d+)", line)
    return int(said[1]) if said else 0


def typed(folder: Path, lines: tuple[str, ...]) -> list[str]:
    """Type lines in a new user's folder; what is wrong, a sentence each."""
    own = {"CAUSEWAY_STATE": str(folder / "state"), "CAUSEWAY_RUNS": str(folder / "runs")}
    wrong = []
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env={**os.environ, **own}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        if done.returncode != due(line):
            wrong.append(f"{line}: ended with {done.returncode}, not {due(line)}: {done.stdout}{done.stderr}")
    return wrong


def every() -> list[Block]:
    """Every block of every page by reader."""
    return [block for page in PAGES for block in blocks(page)]


def with_a_lab(block: Block) -> list[str]:
    """Type a block; what it leaves up, or at rest, is ended."""
    with tempfile.TemporaryDirectory(prefix="causeway-pages-") as name:
        folder = new_user(Path(name), block.page)
        try:
            wrong = typed(folder, block.lines)
        finally:
            typed(folder, ("bin/causeway down", "bin/causeway templates --drop all"))
    print(f"{block}: {'wrong' if wrong else 'well'}", flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("block", nargs="*", help="PAGE:NUMBER; default: all that take a lab")
    wanted = parser.parse_args().block
    chosen = [block for block in every() if (str(block) in wanted if wanted else not block.at_once)]
    wrong = [sentence for block in chosen for sentence in with_a_lab(block)]
    print("\n".join(wrong), flush=True)
    sys.exit(1 if wrong or len(chosen) < len(wanted) else 0)


if __name__ == "__main__":
    main()

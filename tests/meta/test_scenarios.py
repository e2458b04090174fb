"""Scenarios wait for what they name, and all that loops in the harness has a bound."""

import ast
from collections.abc import Iterator

import pytest

from causeway.folders import REPO


def sleeps(tree: ast.AST) -> list[int]:
    """The lines on which something sleeps: time that passes is let pass by the stage, with its reason."""
    return sorted(
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "sleep")
        or (isinstance(node, ast.Name) and node.id == "sleep")
        or (isinstance(node, ast.ImportFrom) and node.module == "time" and any(a.name == "sleep" for a in node.names))
    )


def endless(tree: ast.AST) -> Iterator[int]:
    """The lines of loops that nothing in their head ends, and in whose body no time and no count does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value:
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            if "monotonic" not in names:
                yield node.lineno


WORDS = [*(REPO / "scenarios").glob("*.py"), *(REPO / "causeway" / "scenario" / "words").glob("*.py")]
LOOPING = [*(REPO / "causeway" / "scenario").rglob("*.py"), *(REPO / "causeway" / "lab").rglob("*.py")]
LOOPING += [*(REPO / "scenarios").glob("*.py"), REPO / "causeway" / "wait.py"]


def test_no_scenario_sleeps() -> None:
    found = {file.name: lines for file in WORDS if (lines := sleeps(ast.parse(file.read_text())))}
    assert found == {}


def test_nothing_that_a_scenario_does_loops_without_a_bound() -> None:
    found = {file.name: lines for file in LOOPING if (lines := list(endless(ast.parse(file.read_text()))))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import time\ntime.sleep(1)", [2]), ("from time import sleep\nsleep(1)", [1, 2]), ("x = sleep", [1]),
        ("stage.let_pass(600, 'the key begins')", []), ("until('x', probe, deadline_s=3)", []), ("'sleep 5'", []),
    ],
)  # fmt: skip
def test_a_sleep_is_found(text: str, lines: list[int]) -> None:
    assert sleeps(ast.parse(text)) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("while True:\n    draw()", [1]), ("while 1:\n    break", [1]), ("while seen():\n    pass", []),
        ("while True:\n    if time.monotonic() > end:\n        break", []), ("for _ in range(3):\n    pass", []),
    ],
)  # fmt: skip
def test_a_loop_without_a_bound_is_found(text: str, lines: list[int]) -> None:
    assert list(endless(ast.parse(text))) == lines

"""A class: three seats of one template, a trainee at one of them, and what the teacher sees of that (make nightly)."""

import pytest
from conftest import CAUSEWAY, Tool
from test_accidents import nothing_is_left
from test_shell import Typist

pytestmark = pytest.mark.night


def test_each_seat_has_a_lab_of_its_own_and_the_board_says_who_is_where(tool: Tool) -> None:
    begun = tool("lab", "start", "ssh", "--seats", "3")
    assert begun.returncode == 0, begun.stderr
    said = " ".join(begun.stderr.split())
    assert "room for " in said and "and 8 at most" in said and "seat 3 of 3" in said
    assert [row["labs"] for row in tool.json("templates", "--json")] == [3]
    second = tool("lab", "start", "ssh", "--seats", "1")
    assert second.returncode == 2 and "there is a class already: small-seat-1, " in " ".join(second.stderr.split())

    typist = Typist([str(CAUSEWAY), "shell", "--seat", "3", "quay1"], tool.env)
    typist.wait_for("quay1")
    typist.ask("echo mine >/root/word; cat /root/word", "mine")
    typist.leave("exit", 0)
    others = [tool("exec", "--lab", f"small-seat-{n}", "quay1", "--", "cat", "/root/word") for n in (1, 2, 3)]
    assert [(one.returncode, one.stdout) for one in others] == [(1, ""), (1, ""), (0, "mine\n")]

    assert tool("lab", "hint", "--seat", "1").returncode == 0
    assert tool("lab", "check", "--seat", "2").returncode == 1
    assert tool("lab", "solve", "--seat", "2").returncode == 0
    assert tool("lab", "check", "--seat", "2").returncode == 0
    file = tool.folder / "board.html"
    shown = tool("lab", "board", "--html", str(file)).stdout
    rows = {row["lab"]: row for row in tool.json("lab", "board", "--json")}
    assert [(name, row["done"], row["hints"], row["checks"], row["solved"]) for name, row in rows.items()] == [
        ("small-seat-1", False, 1, 0, False),
        ("small-seat-2", True, 0, 2, True),
        ("small-seat-3", False, 0, 0, False),
    ]
    page = file.read_text()
    for name in rows:
        assert name in shown and f"<td>{name}</td>" in page
    assert "<td>done</td>" in page and page.count("<tr>") == 4

    assert tool("down").returncode == 0
    assert tool("templates", "--drop", "all").returncode == 0
    nothing_is_left(tool)
    assert tool.json("lab", "board", "--json") == []

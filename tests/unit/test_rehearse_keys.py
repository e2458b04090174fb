"""Keys of clusters as the mc commands change them: who could mount what anew, and which command would fail."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.folders import REPO
from causeway.model.load import load_site
from causeway.rehearse.change import Carried, Change, read_change
from causeway.rehearse.keys import Keys
from causeway.rehearse.parts import Command, parts
from causeway.rehearse.predict import predict

JUBL = REPO / "topologies" / "jubl" / "site.yaml"
NEW, COMMIT = "SN# mcauth genkey new\n", "SN# mcauth genkey commit\n"
CARRY = "SN:/var/mc/ssl/id_rsa.pub > nsd01:/tmp/JUBL.pub\n"
UPDATE = "nsd01# mcauth update JUBL.site.example -k /tmp/JUBL.pub\n"
NOT_KNOWN = "JUMP does not know the key that JUBL shows"


def changed(tmp_path: Path, text: str) -> Change:
    file = tmp_path / "change.txt"
    file.write_text(text)
    return read_change(JUBL, None, file)


def moves(change: Change) -> list[tuple[str, str, str, int]]:
    found = predict(change, "keys").moves
    return [(m.turn, m.about, m.after, len(m.pairs)) for m in found if m.about != "command"]


@pytest.mark.parametrize("text", [NEW, NEW + CARRY + UPDATE, NEW + CARRY + UPDATE + COMMIT + CARRY + UPDATE])
def test_a_rotation_that_is_told_in_time_refuses_nobody(tmp_path: Path, text: str) -> None:
    change = changed(tmp_path, text)
    assert (change.fails, change.unpredicted, moves(change)) == ([], [], [])


def test_a_key_that_nobody_was_told_of_is_refused(tmp_path: Path) -> None:
    due = [("worse", f"new mounts of {name}", NOT_KNOWN, 10) for name in ("home1", "work")]
    assert moves(changed(tmp_path, NEW + COMMIT)) == due
    assert moves(changed(tmp_path, NEW + CARRY + UPDATE + COMMIT + NEW + COMMIT)) == due


def test_who_is_told_late_refuses_meanwhile(tmp_path: Path) -> None:
    change = changed(tmp_path, NEW + CARRY + COMMIT + UPDATE)
    assert moves(change) == [
        ("worse", f"new mounts of {name} after line 3", NOT_KNOWN, 10) for name in ("home1", "work")
    ]
    assert [sorted(part.refused) for part in parts(change)] == [
        [], [], [("JUBL", "home1"), ("JUBL", "work")], [],
    ]  # fmt: skip


def test_an_owner_s_key_must_be_known_to_its_clients(tmp_path: Path) -> None:
    text = "nsd01# mcauth genkey new\nnsd01# mcauth genkey commit\n"
    assert {what for _, _, what, _ in moves(changed(tmp_path, text))} == {"JUBL does not know the key that JUMP shows"}
    carried = "nsd01:/var/mc/ssl/id_rsa.pub > SN:/tmp/JUMP.pub\n"
    told = "SN# mcremotecluster update JUMP.site.example -k /tmp/JUMP.pub\n"
    found = moves(changed(tmp_path, text + carried + told))
    assert {what for _, what, _, _ in found} == {f"new mounts of {n} after line 2" for n in ("home1", "work")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (COMMIT, "there is no new key to commit; mcauth genkey new makes one"),
        (NEW + NEW, "a new key is waiting to be committed: mcauth genkey commit"),
        ("nsd01# mcauth update MOON.site.example -k /tmp/x\n", "cluster MOON.site.example is not known"),
        (
            "nsd01:/var/mc/ssl/id_rsa.pub > nsd01:/tmp/JUBL.pub\n" + UPDATE,
            "/tmp/JUBL.pub has no key of JUBL.site.example",
        ),
    ],
)
def test_a_command_that_would_be_refused_fails(tmp_path: Path, text: str, why: str) -> None:
    (said,) = changed(tmp_path, text).fails
    assert said.endswith(f" fails: {why}")


@pytest.mark.parametrize("line", ["SN# mcauth deny x\n", UPDATE, 'SN# mcauth "\n'])
def test_what_is_not_known_of_keys_is_said(tmp_path: Path, line: str) -> None:
    assert len(changed(tmp_path, line).unpredicted) == 1


def test_files_are_carried_by_hand_between_nodes_that_there_are(tmp_path: Path) -> None:
    change = changed(tmp_path, NEW + CARRY)
    first, second = parts(change)
    assert first.acts == (Command("SN", "mcauth genkey new"),)
    assert second.acts == (Carried("SN", "/var/mc/ssl/id_rsa.pub", "nsd01", "/tmp/JUBL.pub"),)
    assert str(second.acts[0]) == CARRY.strip()
    with pytest.raises(BadInput, match=r"MOON.*|MARS.*") as wrong:
        changed(tmp_path, "MOON:/a > MARS:/b\n")
    assert str(wrong.value).count("no node is called") == 2


def test_clusters_know_each_other_s_keys_to_begin_with() -> None:
    assert list(Keys(load_site(JUBL)).refused()) == []

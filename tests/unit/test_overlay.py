"""A user's own files in the place of rendered ones."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.lab.deploy import overlay, write
from causeway.render.text import File, Files

RENDERED: Files = {
    "jubl.clab.yml": File("name: jubl\n"),
    "nodes/SN/etc/hosts": File("rendered\n"),
    "nodes/SN/root/.ssh/id_ed25519": File("rendered key\n", 0o600),
    "nodes/nsd01/etc/hosts": File("rendered\n"),
    "nodes/R00-M0-NC-3/ports": File("eth0 1000 1500 host zam870:R00-M0-NC-3\n"),
}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    write(RENDERED, tmp_path / "lab")
    return tmp_path / "lab"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def put(file: Path, content: bytes, mode: int = 0o644) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(mode)


def test_a_file_of_the_users_takes_the_place_of_the_rendered_one_and_of_no_other(lab: Path, mine: Path) -> None:
    put(mine / "SN/etc/hosts", b"mine\n")
    overlay(lab / "nodes", mine, ["R00-M0-NC-3"])
    texts = {path: (lab / path).read_text() for path in RENDERED}
    assert texts == {path: file.text for path, file in RENDERED.items()} | {"nodes/SN/etc/hosts": "mine\n"}


def test_a_file_that_is_not_rendered_is_added_with_its_mode_whatever_is_in_it(lab: Path, mine: Path) -> None:
    put(mine / "nsd01/opt/tool", b"\x7fELF\xff\x00", 0o755)
    overlay(lab / "nodes", mine, ["R00-M0-NC-3"])
    added = lab / "nodes/nsd01/opt/tool"
    assert (added.read_bytes(), added.stat().st_mode & 0o777) == (b"\x7fELF\xff\x00", 0o755)


def test_the_users_permission_bits_count(lab: Path, mine: Path) -> None:
    put(mine / "SN/root/.ssh/id_ed25519", b"mine\n", 0o400)
    overlay(lab / "nodes", mine, ["R00-M0-NC-3"])
    assert (lab / "nodes/SN/root/.ssh/id_ed25519").stat().st_mode & 0o777 == 0o400


def test_every_folder_that_is_no_node_is_named_and_nothing_is_copied(lab: Path, mine: Path) -> None:
    for path in ("SN/etc/hosts", "nsd1/etc/hosts", "etc/hosts"):
        put(mine / path, b"mine\n")
    with pytest.raises(BadInput) as caught:
        overlay(lab / "nodes", mine, ["R00-M0-NC-3"])
    assert str(caught.value) == f"{mine}: etc, nsd1: no such node; name its folders like nodes"
    assert (lab / "nodes/SN/etc/hosts").read_text() == "rendered\n"


def test_an_io_node_has_no_files_of_its_own(lab: Path, mine: Path) -> None:
    put(mine / "R00-M0-NC-3/etc/hosts", b"mine\n")
    with pytest.raises(BadInput, match="use the boot server's bgl/dist"):
        overlay(lab / "nodes", mine, ["R00-M0-NC-3"])


def test_written_files_have_their_text_and_permission_bits(lab: Path) -> None:
    for path, file in RENDERED.items():
        assert (lab / path).read_text() == file.text
        assert (lab / path).stat().st_mode & 0o777 == file.mode

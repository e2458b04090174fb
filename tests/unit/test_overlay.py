"""A user's own files in the place of rendered ones."""

import os
from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.lab.deploy import overlay, write
from causeway.render.overlay import check_overlay
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
    with pytest.raises(BadInput, match="give them to the node that it boots from"):
        overlay(lab / "nodes", mine, ["R00-M0-NC-3"])


def test_written_files_have_their_text_and_permission_bits(lab: Path) -> None:
    for path, file in RENDERED.items():
        assert (lab / path).read_text() == file.text
        assert (lab / path).stat().st_mode & 0o777 == file.mode


def test_everything_that_is_wrong_is_told_at_once_and_no_link_is_followed(lab: Path, mine: Path) -> None:
    outside = mine.parent / "secret"
    outside.write_text("nobody's business\n")
    for name in ("SN/etc", "nsd01/etc", "nobody"):
        (mine / name).mkdir(parents=True)
    (mine / "SN/etc/good").symlink_to("/etc/localtime")  # as the node sees it
    (mine / "SN/etc/also good").symlink_to("../usr/bin")
    (mine / "SN/etc/out").symlink_to(f"../../../{outside.name}")
    (mine / "nsd01/etc/out").symlink_to("a/../../../x")
    os.mkfifo(mine / "SN/etc/pipe")
    (mine / "cn01").symlink_to(outside.parent)
    (mine / "SN/etc/a\nb").symlink_to("../" * 9)
    (mine / "SN/etc/large").touch()
    os.truncate(mine / "SN/etc/large", 10**12)
    before = sorted(path.name for path in lab.rglob("*"))
    with pytest.raises(BadInput) as caught:
        check_overlay(mine, ["SN", "nsd01", "cn01"], [])
    leads = "this link leads out of the node; link to what is on it"
    assert sorted(str(caught.value).splitlines()) == sorted(
        [
            f"{mine}: nobody: no such node; name its folders like nodes",
            f"{mine}/cn01: this is no folder; a node's files are in a folder of its name",
            f"{mine}/SN/etc/out: {leads}",
            f"{mine}/nsd01/etc/out: {leads}",
            f"{str(mine / 'SN/etc')!r}: {leads}".replace("etc'", "etc/a\\nb'"),
            f"{mine}/SN/etc/pipe: this is no file; remove it",
            f"{mine}: 953674 MiB; use at most 64, for a lab's disks are in memory",
        ]
    )
    assert sorted(path.name for path in lab.rglob("*")) == before


def test_a_file_that_is_named_like_a_node_is_no_overlay(lab: Path, mine: Path) -> None:
    put(mine / "SN", b"no folder\n")
    with pytest.raises(BadInput, match="a node's files are in a folder of its name"):
        overlay(lab / "nodes", mine, [])


def test_a_link_takes_the_place_of_a_file_and_a_file_that_of_a_link_or_a_folder(lab: Path, mine: Path) -> None:
    """Never is one written through: what a link leads to stays as it is."""
    secret = lab / "secret"
    secret.write_text("kept\n")
    (lab / "nodes/SN/etc/link").symlink_to(secret)
    (lab / "nodes/SN/srv").symlink_to(lab)
    (lab / "nodes/SN/opt/folder").mkdir(parents=True)
    (mine / "SN/etc").mkdir(parents=True)
    (mine / "SN/etc/hosts").symlink_to("/run/hosts")
    put(mine / "SN/etc/link", b"mine\n")
    put(mine / "SN/srv/secret", b"mine\n")
    put(mine / "SN/opt/folder", b"mine\n")
    overlay(lab / "nodes", mine, [])
    assert secret.read_text() == "kept\n"
    assert str((lab / "nodes/SN/etc/hosts").readlink()) == "/run/hosts"
    assert (lab / "nodes/SN/srv").is_dir() and not (lab / "nodes/SN/srv").is_symlink()
    for name in ("etc/link", "srv/secret", "opt/folder"):
        assert (lab / "nodes/SN" / name).read_text() == "mine\n"


def test_a_private_key_is_never_more_open_than_it_is_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(Path, "chmod", lambda self, _mode: seen.append(self.stat().st_mode & 0o777))
    write({"key": File("secret\n", 0o600), "open": File("text\n")}, tmp_path)
    assert seen == [0o600, 0o600]

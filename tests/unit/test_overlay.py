"""A user's own files in the place of rendered ones."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.lab.deploy import overlay, write
from causeway.render.files import File, Files

NODES = ["SN", "nsd01"]
RENDERED: Files = {
    "jubl.clab.yml": File("name: jubl\n"),
    "nodes/SN/etc/hosts": File("rendered\n"),
    "nodes/SN/root/.ssh/id_ed25519": File("rendered key\n", 0o600),
    "nodes/nsd01/etc/hosts": File("rendered\n"),
}


def put(folder: Path, path: str, text: str, mode: int = 0o644) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def test_a_file_of_the_users_takes_the_place_of_the_rendered_one(tmp_path: Path) -> None:
    put(tmp_path, "SN/etc/hosts", "mine\n")
    files = overlay(RENDERED, tmp_path, NODES)
    assert files["nodes/SN/etc/hosts"] == File("mine\n")
    assert {path for path in files if files[path] != RENDERED[path]} == {"nodes/SN/etc/hosts"}


def test_a_file_that_is_not_rendered_is_added(tmp_path: Path) -> None:
    put(tmp_path, "nsd01/etc/rc.d/rc3.d/S10site", "#!/bin/sh\n", 0o755)
    files = overlay(RENDERED, tmp_path, NODES)
    assert files == RENDERED | {"nodes/nsd01/etc/rc.d/rc3.d/S10site": File("#!/bin/sh\n", 0o755)}


def test_the_users_permission_bits_count(tmp_path: Path) -> None:
    put(tmp_path, "SN/root/.ssh/id_ed25519", "mine\n", 0o400)
    assert overlay(RENDERED, tmp_path, NODES)["nodes/SN/root/.ssh/id_ed25519"].mode == 0o400


def test_an_empty_overlay_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "SN/etc").mkdir(parents=True)
    assert overlay(RENDERED, tmp_path, NODES) == RENDERED


def test_the_rendered_files_stay_as_they_were(tmp_path: Path) -> None:
    before = dict(RENDERED)
    put(tmp_path, "SN/etc/hosts", "mine\n")
    overlay(RENDERED, tmp_path, NODES)
    assert before == RENDERED


def test_every_folder_that_is_no_node_is_named(tmp_path: Path) -> None:
    put(tmp_path, "SN/etc/hosts", "mine\n")
    put(tmp_path, "nsd1/etc/hosts", "mine\n")
    put(tmp_path, "etc/hosts", "mine\n")
    with pytest.raises(BadInput) as caught:
        overlay(RENDERED, tmp_path, NODES)
    assert str(caught.value) == f"{tmp_path}: etc, nsd1: no such node; name its folders like nodes"


def test_written_files_have_their_text_and_permission_bits(tmp_path: Path) -> None:
    write(RENDERED, tmp_path / "out")
    for path, file in RENDERED.items():
        assert (tmp_path / "out" / path).read_text() == file.text
        assert (tmp_path / "out" / path).stat().st_mode & 0o777 == file.mode

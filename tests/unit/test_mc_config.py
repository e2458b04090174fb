"""The configuration of a cluster: its tables, and that a change is made whole or not at all."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mc import config as configuration
from mc.config import Config, Filesystem, Grant, Node, RemoteCluster, RemoteFilesystem, change, load, save
from mc.native import Refused
from tests.unit.mc_node import HERE

FULL = Config(
    "blue.example",
    "0123456789abcdef",
    "SN-b",
    nodes=[HERE, Node(3, "R00-M0-NC-3", "10.2.64.33", "nonquorum")],
    settings={"cipherList": "AUTHONLY", "pingTimeout": "10"},
    clusters=["green.example", "red.example"],
    filesystems=[Filesystem("work", "/work", "a,b,c,d", "/disks/work/brick")],
    grants=[Grant("green.example", "work", "ro", "no"), Grant("red.example", "work", "rw", "99:99")],
    remote_clusters=[RemoteCluster("grey.example", "n1,n2")],
    remote_filesystems=[RemoteFilesystem("home1", "home", "grey.example", "/home1", "rw", "yes")],
)


def files(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}


def test_what_is_saved_is_loaded_again(var: Path) -> None:
    save(FULL, var)
    assert load() == replace(FULL, folder=var)
    assert all(text.endswith("\n") for text in files(var).values())


def test_a_cluster_of_nothing_is_saved_and_loaded_too(cluster: Config) -> None:
    assert cluster == Config("blue.example", "0123456789abcdef", "SN-b", cluster.folder, nodes=[HERE])


def test_tables_name_their_columns_and_comments_and_empty_lines_are_no_rows(var: Path) -> None:
    save(FULL, var)
    grants = var / "gen" / "grants"
    assert grants.read_text().splitlines()[0] == "# cluster filesystem access root"
    grants.write_text(f"# a comment\n\n{grants.read_text()}\n")
    assert load().grants == FULL.grants


@pytest.mark.parametrize("cell", ["", "/my work", "a\tb", "two\nlines", "#1"])
def test_a_cell_that_a_table_cannot_hold_is_refused_before_anything_is_done(cell: str) -> None:
    with pytest.raises(Refused) as caught:
        Filesystem("work", cell, "a,b,c,d", "/disks/work/brick")
    assert str(caught.value) == f"mount point {cell!r}: give one word, and no # before it"


def test_a_node_in_no_cluster_says_how_to_get_into_one(var: Path) -> None:
    assert not configuration.member()
    with pytest.raises(Refused, match="this node is in no cluster; mccrcluster makes one, mcaddnode adds it to one"):
        load()
    save(FULL, var)
    assert configuration.member()


def test_a_node_is_found_whatever_the_case_of_its_name() -> None:
    assert FULL.node("r00-m0-nc-3").number == 3
    with pytest.raises(Refused, match=r"there is no node R00 in cluster blue\.example"):
        FULL.node("R00")


@pytest.mark.usefixtures("cluster")
def test_a_change_takes_the_place_of_all_and_leaves_no_stage(var: Path) -> None:
    with change() as config:
        config.settings["pingTimeout"] = "5"
        (config.ssl / "id_rsa1").write_text("a key")
        assert "pingTimeout" not in load().settings, "nobody sees a change that is being made"
    assert load().settings == {"pingTimeout": "5"}
    assert config.folder == var
    assert files(var)["ssl/id_rsa1"] == "a key"
    assert sorted(path.name for path in var.iterdir()) == ["gen", "lock", "ssl"]


@pytest.mark.parametrize("mishap", [Refused, KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.usefixtures("cluster")
def test_a_change_that_fails_leaves_all_as_it_was(mishap: type[BaseException], var: Path) -> None:
    with change() as config:
        (config.ssl / "id_rsa1").write_text("a key")
    before = files(var)
    with pytest.raises(mishap), change() as config:
        config.settings["pingTimeout"] = "5"
        (config.ssl / "id_rsa1").unlink()
        (config.ssl / "id_rsa2").write_text("another")
        raise mishap
    assert files(var) == before
    assert sorted(path.name for path in var.iterdir()) == ["gen", "lock", "ssl"]


@pytest.mark.usefixtures("cluster")
def test_what_an_earlier_change_left_when_it_was_killed_is_not_taken_over(var: Path) -> None:
    (var / "stage" / "ssl").mkdir(parents=True)
    (var / "stage" / "ssl" / "id_rsa9").write_text("left")
    with change() as config:
        config.settings["pingTimeout"] = "5"
    assert "ssl/id_rsa9" not in files(var)


def test_a_change_is_refused_on_every_node_but_the_configuration_server(cluster: Config, var: Path) -> None:
    save(replace(cluster, server="FEN-b", nodes=[HERE, Node(2, "FEN-b", "10.2.64.221", "nonquorum")]), var)
    before = files(var)
    with pytest.raises(Refused, match=r"is kept on FEN-b; do it there"), change():
        pytest.fail("nothing may be changed here")
    assert files(var) == before | {"lock": ""}


def test_a_node_that_is_no_member_any_more_is_told_so(cluster: Config, var: Path) -> None:
    save(replace(cluster, nodes=[Node(2, "FEN-b", "192.0.2.1", "quorum")]), var)
    with pytest.raises(Refused, match=r"this node is not in cluster blue\.example any more; mcaddnode on SN-b adds it"):
        load().here()


@pytest.mark.usefixtures("cluster")
def test_nodes_that_do_not_answer_are_named_and_the_change_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    # an address of this machine at which no login without a prompt is to be had
    with change() as config:
        config.nodes.append(Node(2, "127.0.0.2", "127.0.0.2", "nonquorum"))
    late = "these nodes do not answer, and get the change when they start: 127.0.0.2\n"
    assert capsys.readouterr().out == late
    assert [node.number for node in load().nodes] == [1, 2]


@pytest.mark.usefixtures("cluster")
def test_what_is_replicated_arrives_whole_with_links_and_modes_and_old_parts_go(
    var: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with change() as config:
        (config.ssl / "id_rsa1").write_text("a key")
        (config.ssl / "id_rsa1").chmod(0o600)
        (config.ssl / "id_rsa").symlink_to("id_rsa1")
    packed = subprocess.run(configuration._pack(), capture_output=True, check=True).stdout
    there = tmp_path / "there" / "mc"
    (there / "ssl").mkdir(parents=True)
    (there / "ssl" / "known_cluster.gone").write_text("deleted since")
    (there / "etc").mkdir()
    monkeypatch.setattr(configuration, "VAR", there)
    subprocess.run(["sh", "-c", configuration._unpack()], input=packed, check=True)
    assert files(there) == {path: text for path, text in files(var).items() if path != "lock"}
    assert sorted(path.name for path in there.iterdir()) == ["etc", "gen", "ssl"]
    assert (there / "ssl").stat().st_mode & 0o777 == 0o700
    assert (there / "ssl" / "id_rsa1").stat().st_mode & 0o777 == 0o600
    assert (there / "ssl" / "id_rsa").is_symlink()


@pytest.mark.usefixtures("cluster")
def test_an_archive_that_was_cut_off_anywhere_changes_nothing(var: Path) -> None:
    with change():
        pass
    before = files(var)
    packed = subprocess.run(configuration._pack(), capture_output=True, check=True).stdout
    for length in (0, 1, len(packed) // 3, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        unpack = ["sh", "-c", configuration._unpack()]
        done = subprocess.run(unpack, input=packed[:length], capture_output=True, check=False)
        assert done.returncode != 0, length
        assert {path: text for path, text in files(var).items() if not path.startswith("stage/")} == before


@pytest.mark.usefixtures("cluster")
def test_a_cluster_that_has_no_keys_yet_can_be_fetched() -> None:
    with change():
        pass
    assert subprocess.run(configuration._pack(), capture_output=True, check=False).returncode == 0

"""The configuration of a cluster: its tables, and that a change is made whole or not at all."""

import subprocess
from pathlib import Path

import pytest

from mc import config as configuration
from mc import native
from mc.config import (
    Config,
    Filesystem,
    Grant,
    Node,
    NodeSetting,
    RemoteCluster,
    RemoteFilesystem,
    change,
    load,
    save,
    wellformed,
)
from mc.native import Refused
from tests.unit.mc_node import HERE, configured, lay_out, like

FULL = configured(
    "blue.example",
    "0123456789abcdef",
    "SN-b",
    nodes=[HERE, Node(3, "R00-M0-NC-3", "10.2.64.33", "nonquorum")],
    secondary="R00-M0-NC-3",
    shell="/usr/bin/ssh",
    copy="/usr/bin/scp",
    settings={"cipherList": "AUTHONLY", "pingTimeout": "10"},
    node_settings=[NodeSetting("R00-M0-NC-3", "pagepool", "64M")],
    clusters=["green.example", "red.example"],
    filesystems=[Filesystem("work", "/work", "a,b,c,d", "/disks/work/brick")],
    grants=[Grant("green.example", "work", "ro", "no"), Grant("red.example", "work", "rw", "99:99")],
    remote_clusters=[RemoteCluster("grey.example", "n1,n2")],
    remote_filesystems=[RemoteFilesystem("home1", "home", "grey.example", "/home1", "rw", "yes")],
)


def files(var: Path) -> dict[str, str]:
    """What is to be read below gen/ and ssl/, by the way that readers go."""
    found = (file for part in ("gen", "ssl") for file in (var / part).iterdir())
    return {str(file.relative_to(var)): file.read_text() for file in found}


def listed(var: Path) -> list[str]:
    return sorted(path.name for path in var.iterdir())


def test_what_is_saved_is_loaded_again(var: Path) -> None:
    save(FULL, var)
    assert vars(load()) == vars(like(FULL, folder=var))
    assert all(text.endswith("\n") for text in files(var).values())


def test_a_cluster_of_nothing_is_saved_and_loaded_too(cluster: Config) -> None:
    assert vars(cluster) == vars(configured(cluster.name, cluster.id, "SN-b", folder=cluster.folder, nodes=[HERE]))
    assert cluster.generation == 0


def test_tables_name_their_columns_and_comments_and_empty_lines_are_no_rows(var: Path) -> None:
    save(FULL, var)
    grants = var / "gen" / "grants"
    assert grants.read_text().splitlines()[0] == "# cluster filesystem access root state"
    grants.write_text(f"# a comment\n\n{grants.read_text()}\n")
    assert load().grants == FULL.grants


@pytest.mark.parametrize("cell", ["", "/my work", "a\tb", "two\nlines", "#1"])
def test_a_cell_that_a_table_cannot_hold_is_refused_before_anything_is_done(cell: str) -> None:
    with pytest.raises(Refused) as caught:
        wellformed(Filesystem("work", cell, "a,b,c,d", "/disks/work/brick"))
    assert str(caught.value) == f"mount point {cell!r}: give one word, and no # before it"


def test_no_table_is_written_where_a_row_does_not_fit(var: Path) -> None:
    with pytest.raises(Refused, match="value '64 M': give one word"):
        save(like(FULL, node_settings=[NodeSetting(HERE.name, "pagepool", "64 M")]), var)
    assert files(var) == {}


def test_a_node_knows_its_own_addresses_by_what_its_kernel_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = """\
Local:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.1.33.192/26 2 0 2
        |-- 10.1.33.202
           /32 link UNICAST
           /32 host LOCAL
        |-- 10.1.33.255
           /32 link BROADCAST
     |-- 127.0.0.0
        /8 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
"""
    (tmp_path / "fib_trie").write_text(lines)
    monkeypatch.setattr(configuration, "FIB", tmp_path / "fib_trie")
    configuration.own_addresses.cache_clear()
    assert configuration.own_addresses() == {"10.1.33.202", "127.0.0.1"}
    configuration.own_addresses.cache_clear()


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
    assert listed(var) == ["gen", "now", "ssl", "state.b"]


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
    assert listed(var) == ["gen", "now", "ssl", "state.b"]


@pytest.mark.usefixtures("cluster")
def test_what_an_earlier_change_left_when_it_was_killed_is_not_taken_over(var: Path) -> None:
    (var / "stage" / "ssl").mkdir(parents=True)
    (var / "stage" / "ssl" / "id_rsa9").write_text("left")
    with change() as config:
        config.settings["pingTimeout"] = "5"
    assert "ssl/id_rsa9" not in files(var)


def test_a_change_is_refused_on_every_node_but_the_configuration_server(cluster: Config, var: Path) -> None:
    save(like(cluster, server="FEN-b", nodes=[HERE, Node(2, "FEN-b", "10.2.64.221", "nonquorum")]), var)
    before = files(var)
    with pytest.raises(Refused, match=r"is kept on FEN-b; do it there"), change():
        pytest.fail("nothing may be changed here")
    assert files(var) == before


def test_a_node_that_is_no_member_any_more_is_told_so(cluster: Config, var: Path) -> None:
    save(like(cluster, nodes=[Node(2, "FEN-b", "192.0.2.1", "quorum")]), var)
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
    lay_out(there)
    (there / "ssl" / "known_cluster.gone").write_text("deleted since")
    (there / "etc").mkdir()
    monkeypatch.setattr(configuration, "VAR", there)
    subprocess.run(["sh", "-c", configuration._unpack()], input=packed, check=True)
    assert files(there) == files(var)
    assert listed(there) == ["etc", "gen", "now", "ssl", "state.b"]
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
        assert files(var) == before


def arrives(packed: bytes, there: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Put an archive in place on another node, whose /var/mc is `there`; the exit code."""
    monkeypatch.setattr(configuration, "VAR", there)
    return subprocess.run(["sh", "-c", configuration._unpack()], input=packed, check=False).returncode


@pytest.mark.usefixtures("cluster")
def test_an_older_state_never_wins_on_a_node(var: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = []
    for value in ("1", "2"):
        with change() as config:
            config.settings["pingTimeout"] = value
        packed.append(subprocess.run(configuration._pack(), capture_output=True, check=True).stdout)
    there = tmp_path / "there" / "mc"
    old, new = packed
    # the old one is late; then the new one comes once more, to a node where somebody has spoilt it
    assert [arrives(p, there, monkeypatch) for p in (new, old)] == [0, configuration._OLDER]
    assert files(there)["gen/settings"] == "pingTimeout 2\n"
    (there / "gen" / "settings").write_text("")
    assert arrives(new, there, monkeypatch) == 0
    assert load().settings == {"pingTimeout": "2"}
    assert listed(there) == ["gen", "now", "ssl", "state.b"]
    # of another cluster it is not older, whatever its number
    (there / "gen" / "cluster").write_text("name red.example\nid fedcba9876543210\nserver SN-c\ngeneration 99\n")
    assert arrives(old, there, monkeypatch) == 0
    assert files(there) == files(var) | {"gen/settings": "pingTimeout 1\n", "gen/cluster": files(there)["gen/cluster"]}


#: Stands before each program that a shell starts; kills the shell before the n-th one is begun.
_KILLS = """#!/bin/sh
n=$(($(/usr/bin/cat "$COUNT") + 1))
echo $n >"$COUNT"
[ $n != "$AT" ] || { kill -KILL $PPID; exit 1; }
exec "/usr/bin/${0##*/}" "$@"
"""


@pytest.mark.usefixtures("cluster")
def test_a_state_that_arrives_and_is_killed_at_any_step_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = []
    for value in ("1", "2"):
        with change() as config:
            config.settings["pingTimeout"] = value
            (config.ssl / "id_rsa1").write_text(value)
        packed.append(subprocess.run(configuration._pack(), capture_output=True, check=True).stdout)
    there, programs, count = tmp_path / "there" / "mc", tmp_path / "bin", tmp_path / "count"
    monkeypatch.setattr(configuration, "VAR", there)
    programs.mkdir()
    for name in ("mkdir", "flock", "rm", "timeout", "mv", "ln"):
        (programs / name).write_text(_KILLS)
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "COUNT": str(count)}
    seen = set()
    for at in range(1, 40):
        codes = []
        for archive, kill_at in ((packed[0], 0), (packed[1], at)):
            count.write_text("0")
            argv = ["sh", "-c", configuration._unpack()]
            if not kill_at:
                subprocess.run(["sh", "-c", configuration.forget()], check=False)
            done = subprocess.run(argv, input=archive, env=environment | {"AT": str(kill_at)}, check=False)
            codes.append(done.returncode)
        assert codes[0] == 0
        seen.add((load().settings["pingTimeout"], (there / "ssl" / "id_rsa1").read_text()))
        if codes[1] == 0:
            break
    assert seen == {("1", "1"), ("2", "2")}
    assert at > 6


@pytest.mark.usefixtures("cluster")
def test_a_node_that_has_a_newer_state_goes_on_with_that_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with change():
        pass
    archive = subprocess.run(configuration._pack(), capture_output=True, check=True).stdout
    with change() as config:
        config.settings["pingTimeout"] = "5"
        config.nodes.append(Node(2, "FEN-b", "127.0.0.2", "quorum"))
    monkeypatch.setattr(configuration.native, "ssh", lambda *_, **__: native.Result(0, archive, ""))
    told = configuration.fetch(like(load(), server="FEN-b"))
    assert told.settings == {"pingTimeout": "5"}
    said = "FEN-b has an older configuration than this node; going on with that of this node\n"
    assert capsys.readouterr().out.endswith(said)


@pytest.mark.parametrize(
    ("serves", "answering", "hears"), [(True, "abc", True), (True, "ab", True), (True, "a", False), (False, "", False)]
)
def test_a_server_starts_with_the_newest_state_of_most_quorum_nodes_or_not_at_all(
    serves: bool, answering: str, hears: bool, cluster: Config, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five: this node, the configuration server, which is silent, and a, b, c, of which a alone has the newest."""
    others = [Node(n, name, f"192.0.2.{n}", "quorum") for n, name in enumerate(("FEN-b", "a", "b", "c"), 2)]
    served = [f._replace(servers=f"{HERE.name},a") for f in FULL.filesystems if serves]
    old = like(cluster, server="FEN-b", nodes=[HERE, *others], filesystems=served, grants=FULL.grants)
    packed = {}
    for name, state in {"a": like(old, generation=1, grants=[]), "b": old}.items():
        save(state, var)
        packed[name] = subprocess.run(configuration._pack(), capture_output=True, check=True).stdout

    def ssh(node: str, _command: str) -> native.Result:
        answers = node in answering
        return native.Result(0 if answers else 255, packed.get(node, packed["b"]) if answers else b"", "")

    monkeypatch.setattr(configuration.native, "ssh", ssh)
    if serves and not hears:
        with pytest.raises(Refused, match=r"of 5 quorum nodes 2 say who may mount them: .*; first: start FEN-b"):
            configuration.fetch(load())
    else:
        assert configuration.fetch(load()).grants == ([] if hears else FULL.grants)


@pytest.mark.usefixtures("cluster")
def test_nodes_that_keep_a_newer_state_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with change():
        pass
    monkeypatch.setattr(native, "ssh", lambda *_, **__: native.Result(configuration._OLDER, b"", ""))
    configuration.replicate([Node(2, "FEN-b", "127.0.0.2", "nonquorum")])
    assert capsys.readouterr().out == "these nodes have a newer configuration, and keep it: FEN-b\n"


def test_a_node_of_no_cluster_gets_folders_and_links_with_its_first_state(
    var: Path, cluster: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration server by a change, another one by an archive."""
    first = tmp_path / "first" / "mc"
    monkeypatch.setattr(configuration, "VAR", first)
    with change(cluster):
        assert not configuration.member()
    assert listed(first) == ["gen", "now", "ssl", "state.a"]
    assert subprocess.run(["sh", "-c", configuration.forget()], check=False).returncode == 0
    assert listed(first) == []
    assert not configuration.member()
    assert var != first


@pytest.mark.usefixtures("cluster")
def test_a_cluster_that_has_no_keys_yet_can_be_fetched() -> None:
    with change():
        pass
    assert subprocess.run(configuration._pack(), capture_output=True, check=False).returncode == 0

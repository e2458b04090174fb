"""What the command line says to bad input, and its exit codes. Nothing here starts a lab host."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer

from causeway import folders
from causeway.cli import hints, inside, runs
from causeway.cli.app import app, main
from causeway.cli.command import counts
from causeway.folders import DEFAULT_SITE, site_file, sites
from causeway.hosts import host, native
from causeway.lab.deploy import Deployment
from causeway.model.load import load_site
from causeway.render.graph import as_data, mermaid

COMMANDS = sorted(typer.main.get_command(app()).commands)  # type: ignore[attr-defined]
NODES_AND_COMMAND = "say which nodes and which command: causeway exec NODE... -- COMMAND...\n"
NONE_UP = "none up; `causeway up` brings one up, --lab names one of several\n"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lab of this user is seen, and what is cached is not either."""
    monkeypatch.delenv("CAUSEWAY_LAB_HOST", raising=False)
    for name in ("STATE", "CACHE", "RUNS"):
        monkeypatch.setenv(f"CAUSEWAY_{name}", str(tmp_path / name.lower()))


def test_the_commands_are_the_promised_ones() -> None:
    assert set(COMMANDS) >= {"doctor", "render", "up", "down", "status", "exec", "shell", "graph", "run"}


@pytest.mark.parametrize("words", [[], *([command] for command in COMMANDS)], ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_says_what_a_command_does_and_exits_0(
    words: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, option]) == 0
    out, err = capsys.readouterr()
    assert "Usage:" in out
    assert err == ""


BAD: dict[str, tuple[list[str], str]] = {
    "unknown command": (["frobnicate"], "No such command 'frobnicate'."),
    "unknown option": (["graph", "--jsonn"], "No such option: --jsonn"),
    "unknown lab": (
        ["up", "nosuch"],
        "nosuch: No such file or directory; name a topology file or a shipped lab\n",
    ),
    "unknown lab to draw": (
        ["graph", "nosuch"],
        "nosuch: No such file or directory; name a topology file or a shipped lab\n",
    ),
    "unknown lab to render": (
        ["render", "some/where.yaml"],
        "some/where.yaml: No such file or directory; name a topology file or a shipped lab\n",
    ),
    "bad clock": (
        ["up", "--clock", "fast"],
        "--clock fast: there is no such clock; use virtual, paced or real\n",
    ),
    "bad clock for a run": (
        ["run", "channel_imbalance", "--clock", "slow"],
        "--clock slow: there is no such clock; use virtual, paced or real\n",
    ),
    "a lab to work in, in virtual time": (
        ["up", "--clock", "virtual"],
        "an idle lab in virtual time runs ahead of you; use --clock paced, or `causeway run`\n",
    ),
    "overlay that is not there": (["up", "--overlay", "/no/such"], "--overlay /no/such: no such folder\n"),
    "unknown scenario": (["run", "nosuch"], "there is no scenario 'nosuch'"),
    "count that is no number": (["graph", "--count", "many"], "--count many: say [POOL=]N, with a number for N\n"),
    "count that is less than none": (["graph", "--count=-1"], "--count -1: say [POOL=]N, with a number for N\n"),
    "a pool that there is not": (
        ["graph", "--count", "ion=3"],
        "this site has no pool 'ion' with a count; did you mean io?\n",
    ),
    "a pool counted twice": (["graph", "--count", "3", "--count", "io=4"], "--count io=4: io is counted twice\n"),
    "sizes that are no numbers": (["bench", "--count", "8,many"], "--count many: say [POOL=]N, with a number for N\n"),
    "more I/O nodes than there are": (
        ["graph", "--count", "289"],
        "pools.io.count: 289 I/O nodes, and locations for 288; use 1 to 288\n",
    ),
    "shard that there is not": (["run", "--shard", "4/3"], "--shard 4/3: say I/N, with I from 1 to N"),
    "shard that is none": (["run", "--shard", "2"], "--shard 2: say I/N, with I from 1 to N"),
    "seed that is no number": (["run", "--seed", "x"], "Invalid value for '--seed'"),
    "exec without --": (["exec", "nsd01", "true"], NODES_AND_COMMAND),
    "exec without a node": (["exec", "--", "true"], NODES_AND_COMMAND),
    "exec without a command": (["exec", "nsd01", "--"], NODES_AND_COMMAND),
    "exec without anything": (["exec"], "Missing argument"),
    "exec without a lab": (["exec", "nsd01", "--", "true"], f"lab: {NONE_UP}"),
    "status without a lab": (["status"], f"lab: {NONE_UP}"),
    "status of a lab that is not up": (["status", "--lab", "jubl", "--json"], f"lab jubl: {NONE_UP}"),
    "fault to inject without a lab": (["fault", "inject", "link_down"], f"lab: {NONE_UP}"),
    "fault to inject without a name": (["fault", "inject"], "Missing argument"),
    "faults to clear without a lab": (["fault", "clear"], f"lab: {NONE_UP}"),
    "shell without a node": (["shell"], "Missing argument"),
    "shell without a lab": (["shell", "nsd01"], f"lab: {NONE_UP}"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_exits_2_with_what_is_wrong_on_standard_error(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    argv, expected = BAD[name]
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert expected in err
    assert not (tmp_path / "state").exists()
    assert not (tmp_path / "cache").exists()


def test_down_without_a_lab_is_fine_twice(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["down"]) == 0
        assert capsys.readouterr().err.startswith("ended: nothing (")


class Pretender:
    """A lab host that notes what it is asked to do."""

    def __init__(self) -> None:
        self.name = "mini"
        self.asked: list[tuple[str, list[str]]] = []

    def do(self, argv: list[str]) -> int:
        self.asked.append(("do", argv))
        return 7

    def terminal(self, argv: list[str]) -> int:
        self.asked.append(("terminal", argv))
        return 8

    def end(self, graceful_s: float) -> None:
        self.asked.append(("end", [str(graceful_s)]))


PASSED_ON = (
    "status --json --lab mini",
    "exec --lab mini nsd01 FEN -- ls -l --json",
    "console R00-M0-NC-3 --follow --lab mini",
    "fault inject link_down node=nsd01 device=eth3",
    "fault clear 1",
)


@pytest.mark.parametrize("line", PASSED_ON)
def test_a_command_for_a_lab_is_passed_on_word_for_word(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Pretender()
    monkeypatch.setattr(host, "running", lambda _: there)
    assert main(line.split()) == 7
    assert there.asked == [("do", line.split())]


def test_a_shell_is_passed_on_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Pretender()
    monkeypatch.setattr(host, "running", lambda _: there)
    assert main(["shell", "nsd01"]) == 8
    assert there.asked == [("terminal", ["shell", "nsd01"])]


def test_a_lab_on_this_machine_itself_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LABS", tmp_path)
    (tmp_path / "mini").mkdir()
    assert host.running(None) == native.NativeHost("mini") == host.running("mini")
    (tmp_path / "other").mkdir()
    with pytest.raises(host.BadInput, match="lab: mini, other up"):
        host.running(None)


def test_a_native_hosts_command_is_told_that_it_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = []
    monkeypatch.setattr(native.process, "join", lambda argv, env: joined.append((argv, env["CAUSEWAY_LAB_HOST"])) or 6)
    assert native.NativeHost("mini").do(["status", "--json"]) == 6
    native.NativeHost("mini").end(graceful_s=0)
    assert [(argv[-2:], kind) for argv, kind in joined] == [
        (["status", "--json"], "native"),
        (["down", "mini"], "native"),
    ]


class Up:
    """A UML lab host that is up, for a lab or for a run."""

    def __init__(self, name: str, lab: str = "") -> None:
        self.name, self.about = name, {"lab": lab or name}

    def running(self) -> bool:
        return True


def test_a_run_takes_the_lab_that_is_up_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[Up] = []
    monkeypatch.setattr(runs.uml, "all_hosts", lambda: iter(there))
    assert runs.lab_that_is_up() is None
    there.append(Up("mini-run-77", "mini"))  # another run's own is not to be shared
    assert runs.lab_that_is_up() is None
    there.append(mini := Up("mini"))
    assert runs.lab_that_is_up() is mini  # type: ignore[comparison-overlap]
    there.append(Up("other"))
    with pytest.raises(host.BadInput, match="mini, other are up; end all but one"):
        runs.lab_that_is_up()


class Inside(Up):
    """A UML lab host in which the same tool does what it is told, here and now; what it gets there is noted."""

    shares: Path

    def __init__(self, folder: Path, *_: object, **__: object) -> None:
        super().__init__(folder.name)
        self.folder = self.share = Path(tempfile.mkdtemp(dir=self.shares))
        self.asked: list[str] = []

    def ask(self, *words: str) -> None:
        self.asked += words
        (self.folder / words[0]).touch()

    def do(self, argv: list[str], begin: Callable[[], object] = lambda: None) -> int:
        begin()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CAUSEWAY_LAB_HOST", "uml")
            return main(
                [str(self.share) + word.removeprefix("/share") if word[:6] == "/share" else word for word in argv]
            )

    def end(self, graceful_s: float) -> None:
        pass


@pytest.fixture
def got(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What comes out of the commands in the lab host."""
    noted: list[Any] = []
    monkeypatch.setattr(Inside, "shares", tmp_path, raising=False)
    monkeypatch.setattr(host, "ensure_images", lambda _: None)
    monkeypatch.setattr(host.uml, "start", Inside)

    @contextmanager
    def a_lab(template: Inside, name: str, _: object) -> Iterator[Inside]:
        assert template.asked == ["keep"] and (template.share / "template").exists()
        lab = Inside(Path(name))
        yield lab
        assert lab.asked == ["stay" if name == "jubl" else "go"]

    monkeypatch.setattr(host.templates, "a_lab", a_lab)
    monkeypatch.setattr(host.templates, "make_room", lambda *_: None)
    monkeypatch.setattr(host.templates, "until_it_counts", lambda _: None)
    monkeypatch.setenv("CAUSEWAY_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(host, "keep_console", lambda *_: None)
    monkeypatch.setattr(inside, "up", lambda wanted, _, quiet: noted.append((wanted, quiet)))
    monkeypatch.setattr(
        inside, "run", lambda *args, as_json: noted.append((args[0], args[1], args[3], args[5], as_json)) or 1
    )

    def bench(wanted: Deployment, _: object) -> None:
        noted.append(wanted)
        (wanted.topology.parent / "bench.json").write_text(json.dumps(COSTS))

    monkeypatch.setattr(inside, "bench", bench)
    return noted


_NUMBERS = """nodes links first_up_s up_s up_s_per_node by_hand_up_s up_over_by_hand down_s by_hand_down_s memory_mib
memory_mib_per_node"""
COSTS: dict[str, Any] = dict.fromkeys(_NUMBERS.split(), 7)
COSTS |= {"eight_streams": {"mbit": 3766, "wall_over_virtual": 1.2}, "boot": None}


def test_up_is_understood_in_the_lab_host(got: list[Any], tmp_path: Path) -> None:
    (tmp_path / "own/nsd01").mkdir(parents=True)
    assert main(["up", "jubl", "--count", "io=3", "--overlay", str(tmp_path / "own"), "--quiet"]) == 0
    ((wanted, quiet),) = got
    assert (wanted.counts, wanted.clock, quiet) == ({"io": 3}, "paced", True)
    assert wanted.topology.read_text() == site_file("jubl").read_text()
    assert (wanted.overlay / "nsd01").is_dir()


def test_a_run_is_understood_in_the_lab_host(got: list[Any], tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text('"""T.\n\nClaim: c.\n\nSource: s.\n"""\ndef play(stage): pass\n')
    assert (
        main(["run", str(own), "io", "--lab", "jubl", "--count", "9", "--seed", "5", "--json", "--shard", "2/3"]) == 1
    )
    (wanted, quiet), (names, seed, nothing, part, as_json) = got
    assert ([Path(name).name for name in names], seed, part, as_json) == (["mine.py", "io"], 5, (2, 3), True)
    assert quiet and nothing is None  # the lab is up when the run begins
    assert (wanted.counts, wanted.clock) == ({"io": 9}, "virtual")


def test_each_size_of_a_bench_is_measured_and_shown(got: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "jubl", "--count", "io=3,5"]) == 0
    assert [(wanted.counts, wanted.clock) for wanted in got] == [({"io": 3}, "virtual"), ({"io": 5}, "virtual")]
    out, err = capsys.readouterr()
    assert "3 io" in out and "5 io" in out and "eight streams, Mbit/s" in out and "booted" not in out
    (kept,) = folders.runs().glob("bench-*.json")
    assert [row["counts"] for row in json.loads(kept.read_text())] == [{"io": 3}, {"io": 5}]
    assert "measuring jubl with 14 nodes" in err


def test_inside_a_lab_host_nothing_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAUSEWAY_LAB_HOST", "native")
    assert main(["status"]) == 2
    assert capsys.readouterr().err == "no lab is up on this lab host; `causeway up` brings one up\n"


def test_up_ends_with_what_the_sites_folder_says(tmp_path: Path) -> None:
    site = load_site(site_file(DEFAULT_SITE))
    (tmp_path / "try.txt").write_text("first this\nthen  that\n")
    assert hints.after_up(site, tmp_path / "site.yaml") == ["Try next:", "  first this", "  then  that"]


@pytest.mark.parametrize("name", sites())
def test_up_ends_with_hints_that_can_be_typed(name: str, tmp_path: Path) -> None:
    """Those in the site's folder, and those that are made from the site."""
    site = load_site(site_file(name))
    for file in (site_file(name), tmp_path / "site.yaml"):
        lines = hints.after_up(site, file)
        assert 2 <= len(lines) <= 4
        for line in lines[1:]:
            assert line.startswith(("  make ", "  bin/causeway ")), line
            node = line.partition("NODE=")[2].split()[:1]
            assert not node or node[0] in site.nodes, line


def test_graph_json_prints_json_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == as_data(load_site(site_file("jubl")))
    assert err == ""


def test_graph_prints_the_diagram_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "jubl", "--count", "20"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == mermaid(load_site(site_file("jubl"), {"io": 20})).strip()
    assert err == ""


POOLS = "pools: {{{}: {{role: r, names: 'n{{}}', count: 2, hosts: 1, interfaces: {{}}}}{}}}\n"


def test_a_number_alone_is_for_the_only_pool_with_a_count(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("lab: mini\n" + POOLS.format("a", ""))
    assert counts(file, ["5"]) == counts(file, ["a=5"]) == {"a": 5}
    assert counts(file, None) is None and counts(file, []) is None
    file.write_text("lab: mini\n" + POOLS.format("a", ", b: {role: r, names: 'm{}', count: 3}"))
    assert counts(file, ["a=5", "b=6"]) == {"a": 5, "b": 6}
    with pytest.raises(host.BadInput, match="--count 5: of which pool\\? Say a=5 or b=5"):
        counts(file, ["5"])
    file.write_text("lab: mini\n")
    with pytest.raises(host.BadInput, match="has no pool with a count; leave it out"):
        counts(file, ["5"])


def test_counts_reach_the_lab_host_as_words_that_mean_the_same() -> None:
    wanted = Deployment(site_file(DEFAULT_SITE), {"io": 3}, None, "paced")
    words = wanted.words()
    assert words == [str(site_file(DEFAULT_SITE)), "--count", "io=3"]
    assert counts(Path(words[0]), [words[2]]) == wanted.counts


def test_any_sites_file_works_in_place_of_a_shipped_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "my site.yaml"
    text = site_file("jubl").read_text()
    file.write_text(text.replace("lab: jubl", "lab: mine"))
    assert main(["graph", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lab"] == "mine"


def test_render_writes_the_site_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "new/site"
    assert main(["render", "jubl", "--to", str(target)]) == 0
    assert capsys.readouterr().err == f"rendered jubl (19 nodes) into {target}\n"
    assert (target / "jubl.clab.yml").is_file()
    assert (target / "nodes/SN/etc/ssh/ssh_host_ed25519_key").stat().st_mode & 0o777 == 0o600


def test_render_leaves_a_folder_that_exists_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for target in (tmp_path / "there", tmp_path):
        assert main(["render", "--to", str(target)]) == 2
        said = capsys.readouterr().err
        assert said == f"{target} exists; name a folder that does not, with --to\n"
    assert list((tmp_path / "there").iterdir()) == []


def test_doctor_json_prints_json_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) in (0, 2)  # 2: this machine lacks something
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert set(found) == {"lab_host", "why", "needs"}
    assert set(found["needs"]) == {"uml", "native"}
    for need in (*found["needs"]["uml"], *found["needs"]["native"]):
        assert set(need) == {"what", "found", "detail", "remedy"}
        assert need["found"] or need["remedy"]
    assert err == ""


def test_doctor_says_the_lab_host_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    assert "This machine gets the lab host uml: " in capsys.readouterr().out


def test_two_scenarios_of_one_name_are_refused_and_neither_is_handed_over(tmp_path: Path) -> None:
    """Each would take the other's place, in the lab and in the report."""
    files = [tmp_path / folder / "mine.py" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text("")
    lab = host.uml.UmlHost(tmp_path)
    with pytest.raises(host.BadInput, match=r"a/mine.py and .*b/mine.py have one name"):
        host.hand_over_scenarios(lab, [*map(str, files), "single_stream"])

"""What the command line says to bad input, and its exit codes. Nothing here starts a lab host."""

import json
from pathlib import Path

import pytest
import typer

from causeway.cli import app, main
from causeway.model.load import load_site
from causeway.render.graph import as_data, mermaid

REPO = Path(__file__).parents[2]
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
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
    "no number of I/O nodes": (["graph", "--io-nodes", "many"], "Invalid value for '--io-nodes'"),
    "more I/O nodes than there are": (
        ["graph", "--io-nodes", "289"],
        "io_nodes.count: 289 I/O nodes, and locations for 288; use 1 to 288\n",
    ),
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


def test_graph_json_prints_json_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == as_data(load_site(REPO / "topologies/jubl.yaml"))
    assert err == ""


def test_graph_prints_the_diagram_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "jubl", "--io-nodes", "20"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == mermaid(load_site(REPO / "topologies/jubl.yaml", 20)).strip()
    assert err == ""


def test_any_sites_file_works_in_place_of_a_shipped_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "my site.yaml"
    text = (REPO / "topologies/jubl.yaml").read_text()
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

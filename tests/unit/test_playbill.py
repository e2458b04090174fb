"""Who plays a scenario on a site, or why nobody can. Made-up scenarios; no lab."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.folders import DEFAULT_SITE, REPO, site_file
from causeway.hosts import jail
from causeway.model.load import load_site
from causeway.scenario import runner
from causeway.scenario.playbill import Billing, about, billing
from causeway.scenario.runner import Scenario, load

SITE = load_site(site_file(DEFAULT_SITE))
DOC = '"""The title.\n\nClaim: it is so.\n\nSource: none.\n{}"""\nfrom causeway.errors import Unsupported\n'
CAST = """
def cast(ask):
    {}

def play(stage, cast):
    pass
"""


def scenario(folder: Path, body: str, *, name: str = "one", sites: str = "") -> Scenario:
    file = folder / f"{name}.py"
    file.write_text(DOC.format(sites and f"\nSites: {sites}\n") + body)
    return load(str(file))


def test_the_players_stand_in_the_order_of_their_parts(tmp_path: Path) -> None:
    one = billing(scenario(tmp_path, CAST.format("ask._give(['SN', 'FEN'])")), SITE)
    assert (one.players, one.why_not, one.line) == (("SN", "FEN"), "", "SN, FEN")


def test_of_many_players_some_are_named(tmp_path: Path) -> None:
    one = Billing(scenario(tmp_path, CAST.format("pass")), tuple(f"n{i}" for i in range(9)), "")
    assert one.line == "n0, n1, n2, n3, n4, n5 and 3 more"


def test_a_site_that_lacks_something_says_what(tmp_path: Path) -> None:
    one = billing(scenario(tmp_path, CAST.format("raise Unsupported('here is no token ring')")), SITE)
    assert one.line == "nobody: here is no token ring"
    assert one.as_data() == {
        "scenario": "one",
        "title": "The title.",
        "plays": False,
        "cast": True,
        "players": [],
        "why": "here is no token ring",
    }


def test_a_scenario_that_does_not_ask_is_said_to_be_not_cast(tmp_path: Path) -> None:
    one = billing(scenario(tmp_path, "def play(stage): pass\n"), SITE)
    assert one.line == "not cast: every node that it names"
    assert one.as_data()["plays"] and not one.as_data()["cast"]


def test_a_scenario_about_other_sites_is_left_out_and_says_so_when_asked(tmp_path: Path) -> None:
    other = scenario(tmp_path, CAST.format("pass"), name="other", sites="small large")
    own = scenario(tmp_path, CAST.format("pass"), name="own", sites=SITE.name)
    anywhere = scenario(tmp_path, CAST.format("pass"), name="anywhere")
    assert [one.name for one in about([other, own, anywhere], SITE)] == ["own", "anywhere"]
    assert billing(other, SITE).line == f"nobody: it is about small and large, and this is {SITE.name}"


@pytest.fixture
def stage_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two scenarios are all that there are."""
    folder = tmp_path / "scenarios"
    folder.mkdir()
    scenario(folder, CAST.format("ask._give(['SN'])"), name="somebody")
    scenario(folder, CAST.format("raise Unsupported('no token ring')"), name="nobody")
    monkeypatch.setattr(runner, "FOLDER", folder)
    for name in ("STATE", "CACHE", "RUNS"):
        monkeypatch.setenv(f"CAUSEWAY_{name}", str(tmp_path / name.lower()))


@pytest.mark.usefixtures("stage_door")
def test_run_list_says_for_each_scenario_who_plays_it_and_starts_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["run", "--list", "--lab", DEFAULT_SITE]) == 0
    out, err = capsys.readouterr()
    rows = {line.split()[1]: line for line in out.splitlines() if "body" in line and "why" not in line}
    assert "SN" in rows["somebody"] and "nobody: no token ring" in rows["nobody"]
    assert err == "" and not (tmp_path / "state").exists()


@pytest.mark.usefixtures("stage_door")
def test_run_list_as_json_has_every_shipped_site(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--list", "--json", "nobody"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["site"] for row in rows} >= {DEFAULT_SITE}
    assert {(row["scenario"], row["plays"], row["why"]) for row in rows} == {("nobody", False, "no token ring")}


@pytest.mark.usefixtures("stage_door")
def test_run_list_of_what_there_is_not_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--list", "nosuch"]) == 2
    assert "there is no scenario 'nosuch'; the scenarios are nobody, somebody" in capsys.readouterr().err
    assert main(["run", "--list", "--lab", "nosuch"]) == 2


#: What a stranger's scenario may try where it is only asked whom it takes.
HOSTILE = (
    '"""A title.\n\nClaim: none.\n\nSource: none.\n"""\n'
    "from pathlib import Path\n"
    "Path({marker!r}).write_text('here I was')\n"
    "def play(stage):\n    pass\n"
)


def test_a_scenario_of_somebody_elses_runs_in_a_jail_or_not_at_all(tmp_path: Path) -> None:
    marker, file = tmp_path / "marker", tmp_path / "hostile.py"
    file.write_text(HOSTILE.format(marker=str(marker)))
    words = [sys.executable, "-m", "causeway", "run", str(file)]
    env = os.environ | {"PYTHONPATH": str(REPO), "CAUSEWAY_STATE": str(tmp_path / "state")}
    refused = subprocess.run([*words, "--lab", "nosuch"], env=env, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "nosuch: No such file" in refused.stderr
    assert not marker.exists()
    if jail.version():
        listed = subprocess.run([*words, "--list"], env=env, capture_output=True, text=True, check=False)
        assert listed.returncode == 2 and f"Permission denied: '{marker}'" in listed.stderr
        assert not marker.exists()
    file.write_text(
        HOSTILE.replace("Path({marker!r})", "file = Path").partition("file")[0] + "\ndef play(stage): pass\n"
    )
    listed = subprocess.run([*words, "--list", "--lab", "small"], env=env, capture_output=True, text=True, check=False)
    assert listed.returncode == 0 and "hostile" in listed.stdout, listed.stderr


def test_a_shipped_scenario_is_listed_by_its_path_too_whatever_its_libraries_look_at(tmp_path: Path) -> None:
    """scapy keeps tables in ~/.cache and asks the kernel for adapters; the jail reads no home, and has no socket."""
    kept = tmp_path / "home" / ".cache" / "scapy"
    kept.mkdir(parents=True)
    for table in ("services", "ethertypes", "manufdb", "bluetoothids"):
        (kept / f"{table}.pickle").write_bytes(b"kept")
    words = [sys.executable, "-m", "causeway", "run", "--list", str(REPO / "scenarios/hash_policies.py")]
    env = os.environ | {"PYTHONPATH": str(REPO), "HOME": str(tmp_path / "home"), "CAUSEWAY_STATE": str(tmp_path)}
    env.pop("XDG_CACHE_HOME", None)
    listed = subprocess.run([*words, "--lab", "small"], env=env, capture_output=True, text=True, check=False)
    assert listed.returncode == 0 and "hash_policies" in listed.stdout, listed.stderr


def test_a_scenario_that_is_no_python_is_bad_input_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    for text, said in {
        '"""A title."""\n\ndef play(:\n': "3: invalid syntax; make it Python",
        "\0": "make it Python",
    }.items():
        file.write_text(text)
        with pytest.raises(BadInput) as caught:
            load(str(file))
        assert str(caught.value).startswith(f"{file}:") and str(caught.value).endswith(said)

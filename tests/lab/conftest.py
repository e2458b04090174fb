"""Labs for the tests: one in paced time that stays up for all of them, three in virtual time that play what they can,
and a test's own."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from causeway.folders import site_file
from causeway.model.load import load_site
from tests.sites.played import AT_NIGHT
from tests.sites.seen import differences, tell_clusters

REPO = Path(__file__).resolve().parents[2]
CAUSEWAY = REPO / "bin" / "causeway"
PLAYS = Path(__file__).parent / "plays"
#: The scenarios that jubl cannot cast, and xe can.
XE_ALONE = ("tree_pairs", "tree_ping_pong", "two_transports")
#: Those that no site of the day casts, or for which there is no time by day: by night deisa has a long cable, and
#: leases; tests/sites/race.yaml a slow disk; dcs9900 an array behind several servers, ds3400 and ds5300 several disks
#: behind servers of their own, planck gateways, swgpfs clients by gateways and without, xeboot nodes with one root; and
#: xe plays all.
BY_NIGHT = (
    "address_twice", "arrays_added", "cable_for_each", "clients_added", "controller_lost", "file_passed_on",
    "fullest_server_bounds", "gateway_lost", "gateway_mtu", "gateway_routes", "gateways_added", "gateways_taken_away",
    "interfaces_shared", "job_on_two_networks", "jumbo_line_rate", "leases_end_second_network", "lost_pair_expels",
    "messages_beside_files", "nodes_not_processes", "one_tree_for_all", "port_or_server_lost", "private_servers",
    "rebuild_in_one_pool", "san_path_lost", "second_network", "servers_added", "servers_by_controller",
    "sessions_to_archive", "shared_backend", "slow_member", "startup_race", "storage_unplugged", "subnets_unset",
    "tree_b_eff", "tree_groups", "uplink_blocking", "window_over_wan",
)  # fmt: skip


#: Those that take longest on small, and are played on jubl and on the site of the day as well.
LONG = (
    "channel_member_down",
    "channel_member_silent",
    "channel_policy_mismatch",
    "ntp_route_lost",
    "one_port_one_link",
    "window_too_small",
)
#: The fixtures of the tests that make lab-test runs beside the others: as long as these.
PLAY_ALL = {"on_jubl", "on_small"}


def pytest_itemcollected(item: pytest.Item) -> None:
    if PLAY_ALL & set(item.fixturenames):  # type: ignore[attr-defined]
        item.add_marker("plays_all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The lab that stays up comes up for the last tests: until then it would cost the others memory and time."""
    items.sort(key=lambda item: "lab" in item.fixturenames)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Tool:
    """bin/causeway with folders of its own, as another user on this machine would have them."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        own = {"CAUSEWAY_STATE": str(self.folder / "state"), "CAUSEWAY_RUNS": str(self.folder / "runs")}
        return os.environ | own

    def __call__(self, *words: str, timeout_s: float = 600) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(CAUSEWAY), *words], env=self.env, capture_output=True, text=True, timeout=timeout_s, check=False
        )

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start it in a process group of its own."""
        return subprocess.Popen(
            [str(CAUSEWAY), *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def json(self, *words: str, timeout_s: float = 600) -> Any:
        """What a command prints with --json; its standard output must hold nothing else."""
        done = self(*words, timeout_s=timeout_s)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def on(self, node: str, *command: str) -> str:
        """The standard output of a command on a node, which must succeed."""
        (row,) = self.json("exec", "--json", node, "--", *command)
        assert row["rc"] == 0, row
        return str(row["stdout"])


@dataclass(frozen=True)
class Played:
    """A run of scenarios and plays, and the folder in which it is kept."""

    tool: Tool
    run: Any

    def result(self, name: str) -> dict[str, Any]:
        (found,) = (result for result in self.run["scenarios"] if result["name"] == name)
        return dict(found)

    def passed(self, name: str) -> dict[str, Any]:
        """A play's result, which must be a pass."""
        found = self.result(name)
        assert found["verdict"] == "pass", (found["why"], [c for c in found["comparisons"] if not c["ok"]])
        return found


def shipped() -> list[str]:
    """The scenarios that are shipped."""
    return sorted(file.stem for file in (REPO / "scenarios").glob("*.py"))


def daily() -> list[str]:
    """Those that are played each day."""
    return [name for name in shipped() if name not in AT_NIGHT]


def play(folder: Path, site: str, scenarios: Sequence[str], *plays: str) -> Played:
    """Scenarios, then these plays, on a site in virtual time; whatever comes of it is a test's matter."""
    tool = Tool(folder)
    files = [str(PLAYS / f"{name}.py") for name in plays]
    words = ["--lab", site, "--clock", "virtual", "--seed", "1", "--json"]
    done = tool("run", *scenarios, *files, *words, timeout_s=5400)
    assert tool("templates", "--drop", "all").returncode == 0  # others need its memory more
    assert done.stdout, done.stderr
    return Played(tool, json.loads(done.stdout))


def unlike(tool: Tool, site: str, to: Path) -> list[str]:
    """What differs between a site and what is imported of it into a folder, once collected.py was played there."""
    due = load_site(site_file(site))
    said = tool.folder / "runs" / "collected" / due.name
    nodes = [file.name for file in said.iterdir()]
    tell_clusters(due, said)
    done = tool("import", str(said), "--to", str(to))
    assert done.returncode == 0, done.stderr
    return differences(due, load_site(to / "site.yaml"), nodes)


@pytest.fixture(scope="session")
def on_jubl(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Everything, in one lab; last what boots its nodes anew again and again."""
    plays = ("as_drawn", "collected", "trust", "integrity", "every_fault", "block_life")
    return play(tmp_path_factory.mktemp("jubl"), "jubl", daily(), *plays)


@pytest.fixture(scope="session")
def on_small(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What a site can play by day that has neither filesystems nor diskless nodes, and is not long."""
    chosen = [name for name in daily() if name not in LONG]
    return play(tmp_path_factory.mktemp("small"), "small", chosen, "as_drawn", "collected")


@pytest.fixture(scope="session")
def on_xe(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What takes a tree of switches, or two networks to one filesystem."""
    return play(tmp_path_factory.mktemp("xe"), "xe", XE_ALONE, "as_drawn", "collected")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    """The lab jubl, up in paced time."""
    tool = Tool(tmp_path_factory.mktemp("paced"))
    done = tool("up")
    assert done.returncode == 0, done.stderr
    assert tool("templates", "--drop", "all").returncode == 0  # others need its memory more
    yield tool
    assert tool("down").returncode == 0


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """A tool without a lab, or a template of any; what it leaves up, or at rest, is ended."""
    own = Tool(tmp_path)
    yield own
    own("down")
    own("templates", "--drop", "all")

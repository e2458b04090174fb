"""A filesystem that clusters use by gateways and directly, and an archive: who is who, what that gives, what fails."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.probes import sessions as probe
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.filesystems.spread import Direction
from causeway.plan.paths import Ways
from causeway.plan.storage import between, dealt
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import Scenario, load
from causeway.scenario.stage import Stage
from causeway.scenario.words import archive, arrays
from causeway.scenario.words.archive import least_sessions, link_mb, required_mb
from causeway.scenario.words.arrays import File, Placed
from causeway.scenario.words.platforms import fairly
from tests.unit.here import SITE, Here, stand_in

SWGPFS = load_site(REPO / "topologies/swgpfs/site.yaml")
BOTH, ARCHIVE, SHARED = Ask(SWGPFS).platforms(), Ask(SWGPFS).archive(4), Ask(SWGPFS).shared(2)
NAMES = ("interfaces_shared", "sessions_to_archive", "file_passed_on")
INTERFACES, SESSIONS, PASSED = (load(name) for name in NAMES)


def by(n: int) -> Site:
    """The site when clients go by so many gateways."""
    turns = {client: BOTH.gateways[place % n] for place, client in enumerate(BOTH.by)}
    return dealt(SWGPFS, {client: dict.fromkeys(BOTH.servers, gateway) for client, gateway in turns.items()})


# who is who


def test_one_cluster_is_behind_gateways_and_one_is_not() -> None:
    assert BOTH.by == {f"alc{n}": f"alcgw{n}" for n in range(1, 9)}
    assert BOTH.direct == [f"ubglio{n}" for n in range(1, 17)] and BOTH.networks == ["ga", "gb"]
    assert BOTH.servers == [f"levi{n}" for n in range(1, 10)]


def test_who_moves_files_and_where_to() -> None:
    assert ARCHIVE.movers == [f"slic{n}" for n in range(1, 10)] and ARCHIVE.network == "h"
    assert ARCHIVE.archive == ["hpss1", "hpss2", "hpss3"] and ARCHIVE.servers == BOTH.servers
    assert {cluster: hosts[0] for cluster, hosts in SHARED.users.items()} == {
        "ALC": "alc1", "UBGL": "ubglio1", "SLIC": "slic1"
    }  # fmt: skip


def test_who_has_nothing_of_it_is_told_so() -> None:
    with pytest.raises(Unsupported, match="jubl has no filesystem of whole files on four disks that a cluster reaches"):
        Ask(SITE).platforms()
    with pytest.raises(Unsupported, match="reaches by 9 nodes that forward"):
        Ask(SWGPFS).platforms(gateways=9)
    with pytest.raises(Unsupported, match="jubl has no filesystem of whole files on disks, and four clients"):
        Ask(SITE).archive(4)
    with pytest.raises(Unsupported, match="jubl has no filesystem that two clusters mount"):
        Ask(SITE).shared(2)


def test_gateways_with_unlike_numbers_of_clients_are_not_taken() -> None:
    with pytest.raises(Unsupported, match="as many clients by each"):
        Ask(by(3)).platforms(gateways=3)


@pytest.mark.parametrize("n", [8, 4, 3, 2])
def test_dealt_anew_both_ways_are_by_the_same_gateway(n: int) -> None:
    site = by(n)
    ways = Ways(site)
    used = {between(ways, client, server) for client in BOTH.by for server in BOTH.servers}
    assert used == set(BOTH.gateways[:n])


def test_half_of_what_comes_to_a_server_is_at_each_of_its_legs() -> None:
    ways = Ways(SWGPFS)
    for server in BOTH.servers:
        legs = [ways.path(client, SWGPFS.known_by(server).address).hops[-1].network for client in BOTH.by]
        back = [ways.path(server, SWGPFS.known_by(client).address).hops[0].network for client in BOTH.by]
        assert legs == back and sorted(legs) == ["ga"] * 4 + ["gb"] * 4


def test_streams_are_dealt_to_interfaces() -> None:
    found = fairly(SWGPFS, BOTH, BOTH.gateways, BOTH.servers)
    assert len(found) == 16 and len({stream[1:] for stream in found}) == 16
    half = fairly(SWGPFS, BOTH, BOTH.gateways, BOTH.servers[:4])
    assert len(half) == 16 and len({stream[1:] for stream in half}) == 8
    ways = Ways(SWGPFS)
    assert all(ways.path(a, SWGPFS.address(b, to)).hops[0].network == to for a, b, to in half)


# what it gives (MB/s of the lab: a tenth)


def test_nine_links_make_the_gigabyte_and_eight_do_not(tmp_path: Path) -> None:
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    assert required_mb(stage, ARCHIVE) == pytest.approx(100, rel=1e-4) and least_sessions(stage, ARCHIVE) == 9
    fewer = replace(ARCHIVE, movers=ARCHIVE.movers[:4])
    assert required_mb(stage, fewer) > 3 * link_mb(stage, fewer) and least_sessions(stage, fewer) == 4


def test_a_file_that_no_name_leads_to_its_server_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Driver:
        def holders(self, *_: Any) -> dict[str, str]:
            return {"io.1": "levi4", "on.1": "levi3"}

        def listening(self, *_: Any) -> dict[Any, str]:
            return {}

    monkeypatch.setattr(arrays, "driver_of", lambda *_: Driver())
    monkeypatch.setattr(Here, "on", lambda _, node, *argv, **__: Result((node, *argv), 0, "", ""))
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    assert arrays.place(stage, BOTH, [File("alc1", "levi3")]).names == {File("alc1", "levi3"): "/p/gbtest/on.1"}
    arrays.place(stage, BOTH, [File("alc1", "levi4")])
    assert [c.ok for c in stage.comparisons] == [True, False]


def test_a_sessions_rate_is_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = probe.Session("slic1", SWGPFS.address("hpss1", "h"), "/p/gbtest/x", 10)
    monkeypatch.setattr(probe, "run_all", lambda words, **_: [Result(tuple(words[0]), 0, "2.0\n", "")] * 2)
    assert probe.move(Here(SWGPFS, tmp_path), [session, session], "get") == [5 * 2**20 / 1e6] * 2


def test_each_session_has_a_file_of_its_own_and_an_archives_node_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[probe.Session] = []

    class Serving:
        def __init__(self, *_: Any) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(archive, "serving", Serving)
    monkeypatch.setattr(archive, "move", lambda _, those, __: asked.extend(those) or [1.0] * len(those))
    names = {File(m, s): f"/{m}.{s}" for m, s in zip(ARCHIVE.movers, ARCHIVE.servers, strict=True)}
    stage = Stage(Here(SWGPFS, tmp_path), random.Random(1))
    assert archive.sessions(stage, ARCHIVE, Placed(names, {}), ARCHIVE.movers[:4], "get") == [1.0] * 4
    assert [session.file for session in asked] == ["/slic1.levi1", "/slic2.levi2", "/slic3.levi3", "/slic4.levi4"]
    hosts = [str(session.address) for session in asked]
    assert hosts[0] == hosts[3] and len(set(hosts)) == 3 and {session.mib for session in asked} == {112}


# what makes the checks fail


class Lab(Here):
    """Where clusters write to one file, and one of them is denied it, but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(SWGPFS, folder)
        self.wrong, self.written, self.granted = wrong, 0, False

    def mount_everywhere(self) -> None:
        """Nothing that a test looks at."""

    def grant(self) -> None:
        self.granted = True

    def deny(self) -> None:
        self.granted = False

    def new_mount(self, _: str) -> str:
        return "refused" if self.wrong == "the grant is no use" else "mounted"

    def mounted(self, _: Stage, node: str) -> dict[str, str]:
        return {"gbtest": "0 of 9" if self.wrong == "it is not mounted again" and node == "slic1" else "9 of 9"}

    def digest(self, _: Stage, node: str, __: str) -> str:
        stale = {"a reader has the old one": self.written == 2, "the grant brings the old one": self.granted}
        old = self.wrong == "nobody reads it" or (node == "slic1" and stale.get(self.wrong, False))
        return "old" if old else f"sum{self.written}"


def on(lab: Lab, node: str, *argv: str, **_: Any) -> Result:
    if argv[0] == "touch":
        told = "" if lab.wrong == "it works on" else "touch: x: Transport endpoint is not connected"
        return Result(argv, 1, "", told)
    if argv[0] == "sh":
        lab.written += 1
        return Result(argv, 0, f"sum{lab.written}", "")
    return Result((node, *argv), 0, "", "")


def played(scenario: Scenario, wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Two clusters and an archive as computed, but for what is wrong."""
    factors = {
        "fairly is slow": ("fairly", 0.5),
        "half is all": ("to half of the servers", 1.4),
        "direct streams are slow": ("directly", 0.5),
        "afterwards is slow": ("afterwards", 0.5),
    }

    def carried_mb(_stage: Stage, title: str, streams: Sequence[Any], _way: Direction) -> float:
        legs = {stream[1:] for stream in streams}
        which, factor = factors.get(wrong, ("", 1.0))
        return min(len(legs), len(streams)) * 12.3755 * (factor if which == title else 1.0)

    def sessions(_stage: Stage, _cast: Any, _placed: Any, movers: Sequence[str], way: str) -> list[float]:
        one = 11.7685 if way == "get" else 10.0
        slow = {
            "one session is slow": len(movers) == 1,
            "nine are slow": len(movers) == 9 and way == "get",
        }
        fast = {"eight are enough": len(movers) == 8, "disks read more": way == "put"}
        return [one * (0.7 if slow.get(wrong) else 1.3 if fast.get(wrong) else 1.0)] * len(movers)

    lab = Lab(wrong, folder)
    monkeypatch.setattr(Lab, "on", on)
    words: dict[str, Any] = {
        "mounted": lab.mounted,
        "digest": lab.digest,
        "Trust": lambda *_: lab,
        "PATIENCE_S": 0.2,
        "place": lambda *_: Placed({}, {}),
        "carried_mb": carried_mb,
        "sessions": sessions,
        "take_away": lambda *_: None,
    }
    stand_in(monkeypatch, scenario.play, {name: w for name, w in words.items() if name in scenario.play.__globals__})
    stage = Stage(lab, random.Random(1))
    try:
        scenario.play(stage, *scenario.cast_by(Ask(SWGPFS)))
    finally:
        stage.undo()
    return stage


@pytest.mark.parametrize(
    ("scenario", "wrong", "said"),
    [
        (INTERFACES, "fairly is slow", "fairly, write: in links"),
        (INTERFACES, "half is all", "to half of the servers, write: in links"),
        (INTERFACES, "direct streams are slow", "directly, write: in links"),
        (INTERFACES, "afterwards is slow", "afterwards, write: in links"),
        (SESSIONS, "one session is slow", "1 sessions get"),
        (SESSIONS, "nine are slow", "9 sessions get"),
        (SESSIONS, "eight are enough", "8 sessions get"),
        (SESSIONS, "disks read more", "no more than disks read"),
        (PASSED, "nobody reads it", "alc1 wrote: SHA-256 at alc1"),
        (PASSED, "a reader has the old one", "ubglio1 wrote: SHA-256 at slic1"),
        (PASSED, "it works on", "what slic1 is told"),
        (PASSED, "the grant is no use", "a new mount"),
        (PASSED, "it is not mounted again", "what slic1 of SLIC has mounted"),
        (PASSED, "the grant brings the old one", "granted: SHA-256 at slic1"),
    ],
)
def test_each_check_can_fail(
    scenario: Scenario, wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        played(scenario, wrong, tmp_path, monkeypatch)


@pytest.mark.parametrize("scenario", [INTERFACES, SESSIONS, PASSED], ids=NAMES)
def test_what_is_computed_is_what_is_claimed(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = played(scenario, "", tmp_path, monkeypatch)
    assert len(stage.comparisons) >= 7 and all(c.ok for c in stage.comparisons)

"""Sites drawn at random, renamed and with other numbers: that they are valid, and as varied as they should be."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from causeway.model.form import Form
from causeway.model.load import load_site
from causeway.model.rules import check
from causeway.model.site import Site, build_site
from causeway.model.topology import LINUX_POLICIES, OVS_POLICIES
from causeway.plan.paths import Ways
from causeway.render.secrets import Secrets
from causeway.render.site import render
from tests.sites import draw, played
from tests.sites.renamed import names_of, renamed
from tests.sites.slower import JUBL, apart, slower

SEEDS = 300
Data = dict[str, Any]


def loaded(data: Data, folder: Path) -> Site:
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_site(file)


@pytest.fixture(scope="module")
def drawn() -> dict[int, Site]:
    """The sites of many seeds, by seed: all of them without a finding. Reading YAML would take most of the time."""
    sites = {}
    for seed in range(SEEDS):
        form = Form(draw.draw(seed))
        topology = form.parse()
        assert topology is not None and form.findings == [], seed
        sites[seed] = build_site(topology)
        assert list(check(sites[seed])) == [], seed
    return sites


@pytest.fixture(scope="module")
def jubl() -> Data:
    data: Data = yaml.safe_load(JUBL.read_text())
    return data


def test_a_seed_gives_the_same_site_again_and_another_another_one() -> None:
    assert draw.text(7) == draw.text(7)
    assert draw.draw(7) != draw.draw(8)
    assert yaml.safe_load(draw.text(7)) == draw.draw(7)


@pytest.mark.parametrize("seed", range(20))
def test_a_drawn_sites_file_says_the_same(drawn: dict[int, Site], seed: int, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(draw.text(seed))
    assert load_site(file) == drawn[seed]


def test_drawn_sites_are_small_and_within_the_bounds(drawn: dict[int, Site]) -> None:
    for seed, site in drawn.items():
        topology = site.topology
        servers = [name for name, node in site.nodes.items() if node.role == "server"]
        rates = {rate for cable in site.cables for rate in cable.rate_mbit}
        mtus = {network.mtu for network in topology.networks.values()}
        members = {len(end.members) for channel in site.channels for end in channel.ends}
        assert len(site.nodes) <= draw.MOST_NODES, seed
        assert 2 <= len(topology.clusters) <= 3, seed
        assert 2 <= len(servers) <= 6, seed
        assert members <= {2, 3, 4}, seed
        assert min(rates) >= 200 and max(rates) <= 2500, seed
        assert min(mtus) >= 1500 and max(mtus) <= 9000, seed


def test_in_drawn_sites_all_hosts_reach_each_other(drawn: dict[int, Site]) -> None:
    for seed in range(0, SEEDS, 5):
        site = drawn[seed]
        hosts = [name for name, node in site.nodes.items() if node.cluster]
        ways = Ways(site)
        lost = [(a, b) for a in hosts for b in hosts if a < b and not ways.reaches(a, b)]
        assert lost == [], seed


@pytest.mark.parametrize("seed", range(12))
def test_drawn_sites_can_be_rendered(drawn: dict[int, Site], seed: int) -> None:
    site = drawn[seed]
    files = render(site, Secrets(site))
    assert {path.split("/")[1] for path in files if path.startswith("nodes/")} == set(site.nodes)


def features(site: Site) -> set[str]:
    """What a site has, in words."""
    topology, found = site.topology, set[str]()
    found |= {f"{len(topology.clusters)} clusters", f"{len(topology.networks)} networks"}
    found.add(f"{sum(node.role == 'server' for node in site.nodes.values())} servers")
    found |= {f"{len(end.members)} members" for channel in site.channels for end in channel.ends}
    found |= {end.hash_policy for channel in site.channels for end in channel.ends}
    found |= {f"pools of platform {pool.platform}" for pool in topology.pools.values()}
    found |= {f"layout {f.layout}, parity {f.parity}" for f in topology.filesystems.values()}
    found |= {"a cluster that owns and mounts" for c in site.owners() if site.mounts(c)}
    found |= {"a bridge that routes" for node in site.nodes.values() if node.switch and node.forwards}
    found |= {f"slow LACP: {channel.lacp_rate == 'slow'}" for channel in site.channels}
    switching = Counter(site.nodes[name].switch for name in site.switches())
    found |= {f"{count} switches in a network" for count in switching.values()}
    for end, other in ((a, b) for _, a, b in site.channel_ends()):
        both = sum(bool(site.nodes[e.node].switch) for e in (end, other))
        found.add({0: "channel of hosts", 1: "channel of host and switch", 2: "channel of switches"}[both])
    for cable in site.cables:
        there, back = cable.rate_mbit
        if there != back:
            found.add("a rate for each direction")
        elif there != topology.networks[cable.network].rate_mbit:
            found.add("a link with a rate of its own")
    found |= {"a node that receives less" for node in site.nodes.values() if node.receive_mbit}
    found |= {"a node that sends less" for node in site.nodes.values() if node.send_mbit}
    routes = [str(route.to) for node in site.nodes.values() if node.cluster for route in node.routes]
    found |= {"network routes" for to in routes if to in topology.networks}
    found |= {"host routes" for to in routes if to.count(".") == 3 and "/" not in to}
    found |= {"a default route" for to in routes if to == "default"}
    found |= {"no routes"} if not routes else set()
    found |= {"no pools"} if not topology.pools else set()
    found |= {"no filesystems"} if not topology.filesystems else set()
    found |= {"known by a network" for c in topology.clusters.values() if c.known_by}
    found |= {
        f"MTU {'1500' if n.mtu == 1500 else '9000' if n.mtu == 9000 else 'between'}" for n in topology.networks.values()
    }
    return found


#: Of every hundred drawn sites so many have it, at least.
WANTED = {
    "2 clusters": 40,
    "3 clusters": 20,
    "1 networks": 10,
    "2 networks": 30,
    "3 networks": 10,
    **{f"{n} servers": 5 for n in range(2, 7)},
    **{f"{n} members": 20 for n in range(2, 5)},
    **dict.fromkeys((*LINUX_POLICIES, *OVS_POLICIES), 20),
    "pools of platform plain": 40,
    "pools of platform bluegene": 10,
    "no pools": 10,
    "no filesystems": 30,
    "layout stripe, parity 1": 10,
    "layout stripe, parity 2": 3,
    "layout whole, parity 0": 3,
    "a cluster that owns and mounts": 5,
    "1 switches in a network": 50,
    "2 switches in a network": 20,
    "channel of host and switch": 50,
    "channel of switches": 10,
    "slow LACP: True": 5,
    "a bridge that routes": 10,
    "a rate for each direction": 20,
    "a link with a rate of its own": 30,
    "a node that receives less": 20,
    "a node that sends less": 20,
    "network routes": 40,
    "host routes": 10,
    "a default route": 10,
    "no routes": 10,
    "known by a network": 20,
    "MTU 1500": 30,
    "MTU between": 20,
    "MTU 9000": 10,
}


def test_drawn_sites_are_as_varied_as_sites_are(drawn: dict[int, Site]) -> None:
    seen = Counter(feature for site in drawn.values() for feature in features(site))
    rare = {what: seen[what] * 100 // SEEDS for what, least in WANTED.items() if seen[what] * 100 < least * SEEDS}
    assert rare == {}


def shape(site: Site) -> list[Any]:
    """All of a site that is no name: who has which addresses and routes, which cables there are, how channels send."""
    place = {name: i for i, name in enumerate(site.nodes)}
    legs = [[(d.startswith("br-") or d, leg.address) for d, leg in n.interfaces.items()] for n in site.nodes.values()]
    routes = [[(site.destination(route), route.via) for route in n.routes] for n in site.nodes.values()]
    cables = [(place[c.a.node], place[c.b.node], c.rate_mbit, site.mtu(c.a)) for c in site.cables]
    own = [(node.receive_mbit, node.send_mbit) for node in site.nodes.values()]
    sends = [[(place[e.node], e.hash_policy, len(e.members)) for e in c.ends] for c in site.channels]
    files = [(f.size_mib, f.parity, [place[s] for s in site.servers(n)]) for n, f in site.topology.filesystems.items()]
    return [legs, routes, cables, own, sends, files]


@pytest.mark.parametrize("seed", ["jubl", *range(20)])
def test_a_renamed_site_is_the_same_site_and_shares_no_name_with_it(
    seed: str | int, tmp_path: Path, jubl: Data
) -> None:
    data = jubl if isinstance(seed, str) else draw.draw(seed)
    other = renamed(data)
    assert shape(loaded(other, tmp_path)) == shape(loaded(data, tmp_path))
    assert {n.lower() for n in names_of(data)} & {n.lower() for n in names_of(other)} == set()


def test_a_renamed_site_has_no_name_of_the_old_one_anywhere(jubl: Data, tmp_path: Path) -> None:
    def strings(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set.union(set(), *(strings(v) | {str(k)} for k, v in value.items()))
        return set.union(set(), *map(strings, value)) if isinstance(value, list) else {str(value)}

    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(renamed(jubl)))
    left = strings(yaml.safe_load(file.read_text()))
    assert names_of(jubl) & left == set()
    for name in names_of(jubl):
        if len(name) > 4:  # a shorter one may be a part of a key
            assert name not in file.read_text(), name


def test_the_slower_jubl_has_the_other_numbers_and_nothing_else(jubl: Data, tmp_path: Path) -> None:
    site, before = loaded(slower(jubl), tmp_path), loaded(jubl, tmp_path)
    assert sorted(site.nodes) == sorted(before.nodes)
    assert {name: (n.rate_mbit, n.mtu) for name, n in site.topology.networks.items()} == {
        "f": (16000, 1500),
        "m": (500, 1500),
        "b": (700, 4000),
    }
    members = {end.node: len(end.members) for channel in site.channels for end in channel.ends[:1]}
    assert members == {"nsd01": 3, "nsd02": 4, "nsd03": 4, "nsd04": 4, "SN": 2, "FEN": 2}
    assert site.servers("work") == before.servers("work")
    assert len(site.cables) == len(before.cables) - 1


def test_a_node_taken_out_of_its_pool_is_what_it_was(jubl: Data, tmp_path: Path) -> None:
    site, before = loaded(apart(jubl, "nsd", "nsd03"), tmp_path), loaded(jubl, tmp_path)
    assert site.nodes == before.nodes
    assert sorted(map(str, site.cables)) == sorted(map(str, before.cables))
    assert sorted(map(str, site.channels)) == sorted(map(str, before.channels))
    assert sorted(site.servers("home1")) == sorted(before.servers("home1"))


def test_what_is_wrong_with_a_run_is_said_in_a_sentence_each() -> None:
    def result(name: str, verdict: str, why: str = "") -> dict[str, str]:
        return {"name": name, "verdict": verdict, "why": why}

    fine = [result("one", "pass"), result("two", "skipped", "kavtol has no filesystem, and this takes one")]
    assert played.wrong({"scenarios": fine}, "kavtol") == []
    bad = [result("one", "fail", "members: 3"), result("two", "broken", "LabBroken"), result("three", "skipped", "")]
    assert played.wrong({"scenarios": bad}, "kavtol") == [
        "kavtol: one: fail: members: 3",
        "kavtol: two: broken: LabBroken",
        "kavtol: three is skipped, and '' is no sentence",
    ]
    assert played.wrong({"scenarios": []}, "kavtol") == ["kavtol: nothing was played"]


def test_the_days_sites_are_those_of_a_seed_that_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAUSEWAY_SITES_SEED", raising=False)
    first, second, third = played.seeds(3)
    assert (second, third) == (first + 1, first + 2) and len(str(first)) == 10
    monkeypatch.setenv("CAUSEWAY_SITES_SEED", "17")
    assert played.seeds(2) == [17, 18]
    blocks = ["dcs9900", "dcs9900", "ds3400", "ds3400", "ds5300", "ds5300", "planck", "planck", "swgpfs", "swgpfs"]
    others = ["race", "renamed", "slower", "drawn-17"]
    shipped = ["jubl", "jubl", "deisa", "xe", "xeboot", "xeboot", *blocks, *others]
    assert [site for site, _ in played.nightly()][:20] == shipped


def test_one_command_repeats_a_run(tmp_path: Path) -> None:
    assert played.again("drawn-17") == "bin/causeway python -m tests.sites.played drawn-17"
    assert played.again("jubl", ["io"], 464) == "bin/causeway python -m tests.sites.played jubl io --seed 464"
    assert played.site_file("jubl", tmp_path) == "jubl"
    for site in ("drawn-17", "renamed", "slower"):
        load_site(Path(played.site_file(site, tmp_path)))

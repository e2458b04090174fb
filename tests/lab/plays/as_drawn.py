"""A lab is what its site's file says, whatever site it is: cables, channels, ways, rates, logins and filesystems.

Claim: all that the file has is there and up; who reaches whom is as computed, also with a cable pulled; and a stream
alone carries what is computed for the slowest link on its way.

Source: none; it is what every scenario stands on.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

from causeway.lab.faults.links import link_down
from causeway.lab.probes.reach import matrix
from causeway.lab.status import status
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.paths import Unreachable, Ways, path, without_member
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import one_stream

#: Pairs that are measured beside those between clusters.
MORE_PAIRS = 3


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    off = [name for name in site.diskless() if lab.state(name) == "off"]
    hosts = [name for name, node in site.nodes.items() if node.cluster and name not in off]
    now = status(lab)

    def differing(as_computed: Site) -> list[str]:
        """The pairs that reach each other and should not, or the other way round."""
        ways = Ways(as_computed)
        return [f"{a} > {b}" for (a, b), seen in matrix(lab, hosts).items() if seen != ways.reaches(a, b)]

    with stage.healthy("every node, cable and channel is up, and filesystems are mounted where they should be"):
        stage.same("not up", [], list(_down(now, off)))
        for name in site.topology.filesystems:
            users = [host for host in hosts if name in site.mounts(str(site.nodes[host].cluster))]
            (row,) = (row for row in now["filesystems"] if row["name"] == name)
            stage.same(f"{name} is mounted on", sorted(users), sorted(row["mounted_on"]))
        stage.same("pairs that are not as computed", [], differing(site))

    with stage.healthy("a stream alone carries what is computed, and root of a node logs in on the others"):
        for one, other in _pairs(stage, hosts):
            _measure(stage, one, other)
        for here, *others in _by_cluster(site, hosts):
            for other in others:
                said = lab.on(here, "ssh", "-o", "BatchMode=yes", other, "hostname")
                stage.same(f"login from {here} on {other}", other, said.stdout.strip() or said.stderr.strip())

    port = _port(stage, hosts)
    with stage.perturb(f"a cable is pulled: {port}"):
        cable = stage.make(link_down(lab, port.node, port.device))

    with stage.judge("who reaches whom is what is computed without it"):
        stage.same("pairs that are not as computed, cable pulled", [], differing(_without(site, port)))

    with stage.contrast("with the cable back everybody reaches whom they did"):
        cable.undo()
        stage.until("pairs not as computed", lambda: differing(site), is_=[], within_s=40, poll_s=2)

    with stage.restore("every node, cable and channel is up"):
        stage.until("not up", lambda: list(_down(status(lab), off)), is_=[], within_s=100, poll_s=2)


def _down(now: Any, off: list[str]) -> Iterator[str]:
    """What is not up, but for nodes that are off, and their cables."""
    for node in now["nodes"]:
        if node["state"] != "up" and node["name"] not in off:
            yield f"{node['name']}: {node['state']}"
    for link in now["links"]:
        if not link["up"] and not {link["a"].split(":")[0], link["b"].split(":")[0]} & set(off):
            yield f"{link['a']}-{link['b']}"
    for end in now["channels"]:
        if not end["negotiated"] or not all(member["up"] for member in end["members"]):
            yield f"{end['node']}:{end['name']}"


def _pairs(stage: Stage, hosts: list[str]) -> list[tuple[str, str]]:
    """Whose streams are measured: one pair for each way between two clusters, and some at random."""
    between = list(permutations(_by_cluster(stage.site, hosts), 2))
    groups = [[(a, b) for a in ours for b in theirs] for ours, theirs in between]
    groups += [list(permutations(hosts, 2))] * MORE_PAIRS
    answered = [[pair for pair in group if _answered(stage.site, *pair)] for group in groups]
    return list(dict.fromkeys(stage.random.choice(group) for group in answered if group))


def _answered(site: Site, one: str, other: str) -> bool:
    """Whether a stream is answered: it comes from the address of the interface that it leaves by, whosever that is."""
    try:
        (first, *_) = path(site, one, site.known_by(other).address).hops
        path(site, other, site.nodes[one].interfaces[first.sender.device].address)
    except Unreachable:
        return False
    return True


def _by_cluster(site: Site, hosts: list[str]) -> list[list[str]]:
    """The hosts of each cluster that has any."""
    groups = [[host for host in hosts if site.nodes[host].cluster == cluster] for cluster in site.topology.clusters]
    return [group for group in groups if group]


def _measure(stage: Stage, one: str, other: str) -> None:
    lone = one_stream(stage, one, other)
    why = "a stream's start and end are steps of 64 KiB"
    stage.near(f"{one} > {other}", round(lone.due_mbit, 3), lone.rate_mbit, "Mbit/s", within=0.002, why=why)


def _port(stage: Stage, hosts: list[str]) -> Port:
    """A port of a host that nobody boots from and nobody has files on."""
    site = stage.site
    needed = {server for name in site.topology.filesystems for server in site.servers(name)}
    needed |= {pool.boot.server for pool in site.boot_pools().values()} | set(site.diskless())
    free = [end for cable in site.cables for end in cable.ends if end.node in set(hosts) - needed]
    return stage.random.choice(free)


def _without(site: Site, port: Port) -> Site:
    if site.channel_of(port):
        return without_member(site, port)
    return replace(site, cables=tuple(cable for cable in site.cables if port not in cable.ends))

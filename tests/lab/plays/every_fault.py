"""Each fault of the catalogue shows on a healthy lab, and leaves nothing behind.

Claim: before a fault its evidence is not there, after the injection it is, after the undo it is gone, and a second
undo changes nothing.

Source: issue 5, part 1.
"""

import json
import re
from collections.abc import Callable, Iterator

from causeway.lab.changes.change import Change
from causeway.lab.clock import Watch
from causeway.lab.faults.catalogue import FAULTS
from causeway.lab.lab import Lab
from causeway.lab.pools import bluegene
from causeway.lab.probes import nuttcp
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.drift import drift
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import CHANGED, IN, NOT_AUTHORIZED, login
from causeway.wait import until

#: LACP takes a member back within 30 s: an end that knows of no partner speaks no oftener.
DEADLINE_S = 35
SLOW_S = 5
#: What shows, the fault as one types it, and whether it shows now.
Case = tuple[str, str, Callable[[], bool]]


def rtt_ms(lab: Lab, node: str, to: str) -> float:
    """The best of three round trips, in ms; infinite when none comes back."""
    said = lab.on(node, "ping", "-c", "3", "-i", "0.2", "-W", "1", to).stdout
    found = re.search(r"= ([\d.]+)/", said)
    return float(found[1]) if found else float("inf")


def lost(lab: Lab, node: str, to: str) -> int:
    """How many of a hundred small packets do not come back."""
    said = lab.on(node, "ping", "-q", "-c", "100", "-i", "0.01", "-W", "1", to).stdout
    found = re.search(r"(\d+) received", said)
    assert found is not None
    return 100 - int(found[1])


def links(lab: Lab) -> Iterator[Case]:
    (nsd01,) = [end for _, end, _ in lab.site.channel_ends() if end.node == "nsd01"]

    def member_up(device: str) -> bool:
        return read_channel(lab, nsd01).members[device]

    def carriers(*ends: str) -> set[bool]:
        shown = (lab.on(node, "ip", "link", "show", dev).must() for node, dev in (end.split(":") for end in ends))
        return {"LOWER_UP" in text for text in shown}

    def unreachable(node: str, to: str) -> bool:
        return rtt_ms(lab, node, to) == float("inf")

    def largest_ping(node: str, to: str) -> int:
        sizes = (1400, 1500)
        return max(size for size in sizes if not lab.on(node, "ping", "-c1", "-W1", "-Mdo", f"-s{size - 28}", to).rc)

    def mbit(node: str, to: str) -> float:
        said = lab.on(node, "nuttcp", "-w1m", "-T1", to).must()
        return float(said.split("=")[1].split()[0])

    yield (
        "a cable is down at both ends",
        "link_down node=cn01 device=eth1",
        lambda: carriers("cn01:eth1", "deisa:cn01") == {False},
    )
    yield (
        "a member of a channel is down at both ends, and out",
        "link_down node=nsd01 device=eth3",
        lambda: carriers("nsd01:eth3", "zam870:nsd01-2") == {False} and not member_up("eth3"),
    )
    yield (
        "a cable has its carrier and nobody answers",
        "link_silent node=cn01 device=eth1",
        lambda: carriers("cn01:eth1", "deisa:cn01") == {True} and unreachable("cn01", "10.1.44.1"),
    )
    yield (
        "a member of a channel has its carrier and LACP takes it out",
        "link_silent node=nsd01 device=eth3",
        lambda: carriers("nsd01:eth3", "zam870:nsd01-2") == {True} and not member_up("eth3"),
    )
    yield (
        "of 200 frames a fifth is lost",
        "link_lossy node=cn01 device=eth1 percent=20",
        lambda: 15 < lost(lab, "cn01", "10.1.44.1") < 60,
    )
    yield (
        "a round trip takes twice 25 ms more",
        "link_delayed node=cn01 device=eth1 delay_ms=25",
        lambda: 50 <= rtt_ms(lab, "cn01", "10.1.44.1") < 51,
    )
    yield (
        "a stream gets what a wire of 100 Mbit/s has for it",
        "link_rate node=cn01 device=eth0 rate_mbit=100",
        lambda: 80 < mbit("cn01", "10.1.33.202") < 100,
    )
    yield (
        "small packets come back and full ones do not",
        "port_mtu node=deisa device=cn01 mtu=1400",
        lambda: largest_ping("cn01", "10.1.44.1") == 1400,
    )


def neighbours(lab: Lab) -> Iterator[Case]:
    def owners(asker: str, device: str, address: str) -> int:
        said = lab.on(asker, "busybox", "arping", "-b", "-c", "2", "-w", "2", "-I", device, address).stdout
        return len(set(re.findall(r"\[([0-9a-f:]{17})\]", said)))

    def floods(sender: str, other: str, device: str) -> bool:
        def received() -> int:
            (shown,) = json.loads(lab.on(other, "ip", "-j", "-s", "link", "show", device).must())
            return int(shown["stats64"]["rx"]["packets"])

        before = received()
        lab.on(sender, "ping", "-q", "-c", "100", "-i", "0.01", "-W", "1", "-I", device, "239.9.9.9")
        return received() - before >= 100

    yield (
        "two answer for an address",
        "address_twice node=cn01 address=10.1.44.12",
        lambda: owners("nsd01", "eth1", "10.1.44.12") == 2,
    )
    yield (
        "multicast that nobody joined goes nowhere",
        "snooping_on switch=deisa",
        lambda: not floods("nsd01", "cn01", "eth1"),
    )


def routes(lab: Lab) -> Iterator[Case]:
    def way(node: str, to: str) -> str:
        asked = lab.on(node, "ip", "route", "get", to)
        return asked.stdout + asked.stderr

    yield (
        "there is no way",
        "route_missing node=cn01 to=10.2.64.0/22",
        lambda: "Network is unreachable" in way("cn01", "10.2.64.220"),
    )
    yield (
        "a reboot would take a route away",
        "route_not_persistent node=cn01 to=10.2.64.0/22",
        lambda: [one.what for one in drift(lab, ["cn01"])] == ["route 10.2.64.0/22"],
    )
    yield (
        "the way leads through another server",
        "route_wrong node=SN to=10.1.33.202 via=10.2.64.203",
        lambda: "via 10.2.64.203" in way("SN", "10.1.33.202"),
    )
    yield (
        "there is a way there and none back",
        "route_one_way source=SN target=cn02",
        lambda: "via" in way("SN", "10.1.33.12") and "unreachable" in way("cn02", "10.2.64.220"),
    )


def services(lab: Lab) -> Iterator[Case]:
    ion, sn = lab.booted()[0], bluegene.service_node(lab)

    def runs(node: str, service: str) -> bool:
        return bool(lab.on(node, "pgrep", "-x", service).stdout)

    for node, service in (("nsd01", "named"), ("FEN", "sshd"), (ion, "chronyd"), (sn, "dnsmasq")):
        yield (
            f"{service} does not run on {node}",
            f"service_stopped node={node} service={service}",
            lambda node=node, service=service: not runs(node, service),  # type: ignore[misc]
        )
    yield (
        "nobody serves NFS",
        f"service_stopped node={sn} service=nfsd",
        lambda: ":2049 " not in lab.on(sn, "ss", "-tln").must(),
    )
    yield (
        "sshd does not run for a while",
        f"service_slow node=FEN service=sshd seconds={SLOW_S}",
        lambda: not runs("FEN", "sshd"),
    )
    yield (
        "the name is in /etc/hosts and not in DNS",
        f"name_missing server={sn} name={ion}",
        lambda: "NXDOMAIN" in lab.on(sn, "host", "-t", "a", ion).stdout and lab.on(sn, "getent", "hosts", ion).rc == 0,
    )
    yield (
        "chronyd sees its server 30 s behind",
        "clock_wrong node=FEN seconds=30",
        lambda: "+30.0s" in lab.on("FEN", "chronyc", "sources").must(),
    )
    yield (
        "chronyd sees its server 2 s ahead",
        f"clock_wrong node={ion} seconds=-2",
        lambda: "-2000ms" in lab.on(ion, "chronyc", "sources").must(),
    )
    yield (
        "a mounted tree is stale",
        "export_moved path=/srv/nfs4/bgl",
        lambda: "Stale file handle" in lab.on(ion, "/bin/ls", "/bgl/dist").stderr,
    )


def keys(stage: Stage) -> Iterator[Case]:
    ion, sn = stage.lab.booted()[0], bluegene.service_node(stage.lab)
    yield (
        "FEN's host key is another",
        "host_key_wrong node=FEN",
        lambda: (login(stage, sn, "FEN"), login(stage, "FEN", sn)) == (CHANGED, IN),
    )
    yield (
        "an I/O node's host key is another",
        f"host_key_wrong node={ion}",
        lambda: login(stage, sn, ion) == CHANGED,
    )
    yield (
        "root of FEN is not let in by SN",
        "authorized_key_wrong node=SN client=FEN",
        lambda: (login(stage, "FEN", sn), login(stage, sn, "FEN")) == (NOT_AUTHORIZED, IN),
    )


def typed_in(lab: Lab, typed: str) -> Change:
    name, *words = typed.split()
    fault = FAULTS[name]
    return fault.change(lab, **fault.read(words, lab.site))


def play(stage: Stage) -> None:
    with nuttcp.servers(stage.lab, ["nsd01"]):
        _play(stage)


def _play(stage: Stage) -> None:
    lab = stage.lab
    cases = [*links(lab), *neighbours(lab), *routes(lab), *services(lab), *keys(stage)]

    def queues() -> str:
        """Every queue and its settings on the nodes whose cables are touched."""
        return "".join(lab.on(node, "tc", "qdisc", "show").must() for node in ("cn01", "nsd01", "deisa", "zam870"))

    def shown() -> str:
        return "; ".join(what for what, _, shows in cases if shows())

    def wait_until(state: bool, what: str, shows: Callable[[], bool]) -> None:
        words = f"{what}: {'shows' if state else 'no more'}"
        until(words, lambda: "" if shows() == state else f"{not state}", deadline_s=DEADLINE_S)

    with stage.healthy("no fault shows, and there is a case for each one"):
        stage.compare("faults with a case", " ".join(FAULTS), " ".join(sorted({c[1].split()[0] for c in cases})), "", 0)
        stage.compare("what shows", "", shown(), "", 0)
        before = queues()

    undos, went = [], []
    with stage.perturb("each fault is injected, and undone once it shows, until it shows no more"):
        for what, typed, shows in cases:
            change = typed_in(lab, typed)
            fault = stage.make(change)
            undos.append(change.undo(lab))
            wait_until(True, what, shows)
            fault.undo()
            wait_until(False, what, shows)
            went.append(what)

    with stage.judge("each of them showed, and went"):
        stage.compare("what showed, and went", "; ".join(case[0] for case in cases), "; ".join(went), "", 0)

    with stage.contrast("a daemon that is slow comes by itself; all undone once more, nothing shows"):
        what, typed, shows = next(case for case in cases if case[1].startswith("service_slow"))
        watch = Watch()
        stage.make(typed_in(lab, typed))
        wait_until(True, what, shows)
        wait_until(False, what, shows)
        stage.compare("seconds without it", SLOW_S, watch.virtual_s, "s", 0.2)
        for undo in undos:
            undo()
        for what, _, shows in cases:
            wait_until(False, what, shows)

    with stage.restore("the queues are what they were"):
        stage.compare("queues as before", True, queues() == before, "", 0)

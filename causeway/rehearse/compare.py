"""Two versions of a site beside each other: who can talk to whom, filesystems, settings, rates."""

from collections import Counter
from collections.abc import Iterator
from math import isclose

from causeway.model.site import Site
from causeway.plan.delays import window_bytes
from causeway.rehearse.answer import Move, Turn, together
from causeway.rehearse.rates import Pattern, Rates, falls, moved, patterns
from causeway.rehearse.reach import Reach, Talk
from causeway.render.site import tunables

_Key = tuple[str, Turn, str, str]


def reach_moves(before: Reach, after: Reach, when: str = "") -> list[Move]:
    """What is another one for pairs that there are before and after; `when` says that it is not for good."""
    found: dict[tuple[int, int], list[_Key]] = {}  # alike pairs have one Talk

    def each() -> Iterator[tuple[_Key, str, str]]:
        for (one, port), was in before.talks.items():
            now = after.talks.get((one, port))
            if now is None:
                continue
            same = id(was), id(now)
            if same not in found:
                found[same] = list(_pair(was, now, when))
            for key in found[same]:
                yield key, one, str(port)

    return together(each())


def _pair(was: Talk, now: Talk, when: str) -> Iterator[_Key]:
    if was == now:
        return
    about = f"reaches{when}"
    if was.state != now.state or (was.why != now.why and not was.works):
        turn: Turn = "worse" if was.works else "better" if now.works else "other"
        if now.state == "not predicted":
            turn = "other"
        yield about, turn, _state(was), _state(now)
    if not was.works or not now.works or when:
        return
    for about, old, new in (("way", was.there, now.there), ("way back", was.back, now.back)):
        if old != new:
            yield about, "other", _way(old), _way(new)
    if was.mtu != now.mtu:
        yield "packet size", "worse" if now.mtu < was.mtu else "better", f"{was.mtu} bytes", f"{now.mtu} bytes"
    if not isclose(was.rate, now.rate, rel_tol=0.001):
        turn = "worse" if now.rate < was.rate else "better"
        yield "one stream", turn, _alone(was), _alone(now)
    if was.round_trip_ms != now.round_trip_ms:
        turn = "worse" if now.round_trip_ms > was.round_trip_ms else "better"
        yield "round trip", turn, _trip(was), _trip(now)
    gone, new_ones = was.needs - now.needs, now.needs - was.needs
    if gone or new_ones:
        balance = len(now.needs) - len(was.needs)
        turn = "worse" if balance > 0 else "better" if balance < 0 else "other"
        yield "hangs on", turn, _listed(gone), _listed(new_ones)


def _state(talk: Talk) -> str:
    return talk.told("{a}", "{b}")


def _alone(talk: Talk) -> str:
    return f"{talk.rate:.1f} Mbit/s" + (f" ({talk.bound})" if talk.bound else "")


def _trip(talk: Talk) -> str:
    """How long it takes, and the window that a stream has to have for all of its rate."""
    if not talk.round_trip_ms:
        return "0 ms"
    window = window_bytes(talk.rate, talk.round_trip_ms)
    return f"{talk.round_trip_ms:g} ms (a window of {window / 1024:.0f} KiB for the whole rate)"


def _way(nodes: tuple[str, ...]) -> str:
    return f"by {', '.join(nodes)}" if nodes else "directly"


def _listed(things: frozenset[str]) -> str:
    return ", ".join(sorted(things)) or "nothing else"


def node_moves(before: Reach, after: Reach) -> Iterator[Move]:
    """Nodes and interfaces that come and go, and who of the new ones is answered by nobody."""
    for name in before.site.nodes.keys() - after.site.nodes.keys():
        yield Move("node", "other", name, "gone")
    for name in sorted(after.site.nodes.keys() - before.site.nodes.keys()):
        yield Move("node", "other", "-", name)
    old, new = (set(reach.talks) for reach in (before, after))
    kept = before.site.nodes.keys() & after.site.nodes.keys()
    lost = Counter(port for one, port in old - new if one in kept and port.node in kept)
    for port in sorted(lost, key=str):
        address = before.site.nodes[port.node].interfaces[port.device].address
        yield Move("interface", "worse", f"{port} {address}", "gone")

    def cut() -> Iterator[tuple[_Key, str, str]]:
        for one, port in sorted(new - old, key=str):
            talk = after.talks[one, port]
            half = talk.why.startswith("there, and not back") or talk.state == "stalls"
            if not talk.works:
                yield ("reaches", "worse" if half else "other", "-", _state(talk)), one, str(port)

    yield from together(cut())


def filesystem_moves(before: Reach, after: Reach) -> Iterator[Move]:
    """What is served and mounted, by whom, and whether each client finds enough servers."""
    was, now = before.site.topology.filesystems, after.site.topology.filesystems
    for name in sorted(was.keys() | now.keys()):
        if name not in now:
            yield Move("filesystem", "worse", name, "gone")
        elif name not in was:
            yield Move("filesystem", "other", "-", name)
        else:
            old, new = (dict(site.topology.filesystems[name]) for site in (before.site, after.site))
            old["servers"], new["servers"] = before.site.servers(name), after.site.servers(name)
            for key in old:
                if old[key] != new[key]:
                    yield Move(f"filesystem {name}: {key}", "other", _said(old[key]), _said(new[key]))
    found: dict[tuple[str, str], list[str]] = {}
    old_mounts, new_mounts = (_mounts(reach) for reach in (before, after))
    for (client, name), works in sorted(old_mounts.items()):
        if client not in after.site.nodes or name not in now:
            continue
        if (client, name) not in new_mounts:
            found.setdefault((name, "no"), []).append(client)
        elif works and not new_mounts[client, name]:
            found.setdefault((name, "too few of its servers answer"), []).append(client)
    for (name, why), clients in found.items():
        yield Move(f"mounts {name}", "worse", "yes", why, {client: [] for client in clients})
    owners = {(c, f.owner) for c in after.site.topology.clusters for f in after.site.mounts(c).values() if f.owner != c}
    had = {(c, f.owner) for c in before.site.topology.clusters for f in before.site.mounts(c).values() if f.owner != c}
    for client, owner in sorted(owners - had):
        yield Move("grant", "other", "-", f"{owner} must know {client}'s key, and grant it what it mounts")


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _mounts(reach: Reach) -> dict[tuple[str, str], bool]:
    """(node, filesystem) -> whether as many of its servers answer as it takes."""
    site, found = reach.site, {}
    for cluster in site.topology.clusters:
        for name, filesystem in site.mounts(cluster).items():
            for client in site.members(cluster):
                if not site.nodes[client].interfaces:
                    continue
                servers = [s for s in site.servers(name) if s != client and site.nodes[s].interfaces]
                silent = [server for server in servers if not reach.known(client, server).works]
                found[client, name] = len(silent) <= filesystem.parity
    return found


def setting_moves(before: Site, after: Site) -> Iterator[Move]:
    """Tunables that have another value; of what they do, forwarding and reverse-path filters alone are predicted."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for name in before.nodes.keys() & after.nodes.keys():
        was, now = ({k: str(v) for k, v in tunables(site, name).items()} for site in (before, after))
        for site, settings in ((before, was), (after, now)):
            settings["net.ipv4.ip_forward"] = str(int(site.nodes[name].forwards))
        for key in was.keys() | now.keys():
            if was.get(key) != now.get(key):
                found.setdefault((key, was.get(key, "-"), now.get(key, "-")), []).append(name)
    for (key, old, new), nodes in sorted(found.items()):
        yield Move(key, "other", old, new, {name: [] for name in sorted(nodes)})


def rates(before: Reach, after: Reach) -> Iterator[tuple[Pattern, Rates, Rates]]:
    """Every pattern of the site before, and those that it has only after the change."""
    known = list(patterns(before))
    new = [p for p in patterns(after) if p.what not in {pattern.what for pattern in known}]
    for pattern in [*known, *new]:
        yield pattern, pattern.rates(before), pattern.rates(after)


def rate_moves(found: list[tuple[Pattern, Rates, Rates]]) -> Iterator[Move]:
    """Those that get more or less."""
    for pattern, was, now in found:
        if moved(was, now):
            turn: Turn = "worse" if falls(was, now) else "better" if falls(now, was) else "other"
            yield Move(pattern.name, turn, _rate(was), _rate(now))


def _rate(rates: Rates) -> str:
    if not rates.values:
        return rates.why
    if len(set(rates.values)) == 1:
        return f"{rates.mean:.0f} {rates.unit}"
    return f"{rates.mean:.0f} {rates.unit}, the worst tenth {rates.worst_tenth:.0f}"

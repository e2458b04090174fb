"""A lab's page: what its site's file says as tables, and the story, the console and the measurements kept beside it."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

from causeway.docs import keep, pools
from causeway.docs.markdown import fill, made_from, section, table
from causeway.folders import REPO
from causeway.model.load import load_site
from causeway.model.site import Cable, Site
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd


def lab_page(file: Path) -> str:
    """A lab: its file's own header, the drawing, its story, and what the file says as tables."""
    site = load_site(file)
    about, log = file.with_name("about.md"), file.with_name("boot.log")
    sources = [source for source in (file, about, log) if source.exists()]
    lines = [f"# Lab {site.name}", "", made_from(*sources), "", "```text", *header(file), "```", ""]
    lines += [f"![The site {site.name}]({site.name}.svg)", ""]
    if about.exists():
        lines += [fill(about.read_text(), keep.tables(file.parent))]
    lines += section("Networks", "network|addresses|a link's rate|MTU", _networks(site))
    lines += section("Nodes", "node|cluster|role|switches network", _nodes(site))
    lines += section("What nodes receive and send at most", "nodes|receive at most|send at most", _bounds(site))
    lines += section(
        "What disks do", "disk|reads|writes|to another place, before it reads|before it writes", _disks(site)
    )
    lines += section("Addresses", "node|interface|network|address|names", _addresses(site))
    lines += section("Links", "end|end|network|rate|MTU", _links(site))
    if site.channels:
        lines += ["## Channels", "", "Each end decides by its own hash policy what it sends.", ""]
        lines += table("end|sends by|members|end|sends by|members|each|LACP rate", _channels(site))
    lines += section("Routes", "nodes|to|through", _routes(site))
    lines += section("Services", "service|where", _services(site))
    for pool in site.topology.pools.values():
        lines += pools.sections(pool)
    if log.exists():
        lines += ["## Boot", "", *_boot(log)]
    return "\n".join(lines)


def _boot(log: Path) -> Iterator[str]:
    """A node's console, kept in a file, drawn; the comments at its top are a sentence, and the marks of its stages."""
    lines = log.read_text().splitlines()
    sentence = " ".join(comment for comment in _comments(lines) if "=" not in comment)
    yield f"{sentence} In milliseconds since power-on; the console is [{log.name}](../../{log.relative_to(REPO)})."
    yield from ("", "```mermaid", "gantt", "  dateFormat x", "  axisFormat %L ms", "  section boot")
    yield from timeline(lines)
    yield from ("```", "")


def timeline(lines: list[str]) -> Iterator[str]:
    """A console's stages, each of which ends where the next begins.

    Its comments are `MARK = STAGE`: what the console shows when the stage begins; the last is where all has ended.
    KeyError for a mark that the console does not show.
    """
    comments = _comments(lines)
    marks = [re.split(" *= *", comment, maxsplit=1) for comment in comments if "=" in comment]
    at_ms: dict[str, int] = {}
    for line in lines[len(comments) :]:
        time, text = line.removeprefix("[").split("] ", 1)
        for mark, _ in marks:
            if mark in text:
                at_ms.setdefault(mark, round(float(time) * 1000))
    for (mark, stage), (after, _) in pairwise(marks):
        yield f"  {stage} : {at_ms[mark]}, {max(at_ms[after], at_ms[mark] + 1)}"


def _comments(lines: list[str]) -> list[str]:
    return [line.removeprefix("#").strip() for line in lines if line.startswith("#")]


def header(file: Path) -> Iterator[str]:
    """The comment at the top of a file, without its signs, and without the line by which editors find the schema."""
    for line in file.read_text().splitlines():
        if line.startswith("# yaml-language-server:"):
            continue
        if not line.startswith("#"):
            return
        yield line.removeprefix("#").removeprefix(" ").rstrip()


def _rate(cable: Cable) -> str:
    rate = f"{' / '.join(str(mbit) for mbit in dict.fromkeys(cable.rate_mbit))} Mbit/s"
    return rate + _length(cable.delay_ms)


def _length(delay_ms: float) -> str:
    """What follows a wire's rate, where it has a length."""
    return f", {delay_ms:g} ms one way" if delay_ms else ""


def _networks(site: Site) -> Iterator[list[str]]:
    for name, network in site.topology.networks.items():
        wire = f"{network.rate_mbit} Mbit/s{_length(network.delay_ms)}"
        yield [name, str(network.subnet), wire, str(network.mtu)]


def _nodes(site: Site) -> Iterator[list[str]]:
    for name, node in site.nodes.items():
        yield [name, f"{node.cluster or ''}{_kind(site, node.cluster)}", node.role, node.switch or ""]


def _bounds(site: Site) -> Iterator[list[str]]:
    """Of each such node, or pool of them, the TCP payload in packets of 1500 bytes."""
    rows = {}
    for name, node in site.nodes.items():
        if node.receive_mbit or node.send_mbit:
            said = (f"{mbit} Mbit/s" if mbit else "" for mbit in (node.receive_mbit, node.send_mbit))
            rows[_who(site, name)] = [_who(site, name), *said]
    yield from rows.values()


def _disks(site: Site) -> Iterator[list[str]]:
    """Those of which something is said."""
    said = {f"of each server, for {name}": each.disk for name, each in site.topology.filesystems.items()}
    said |= {
        f"of {pool.boot.server}, with the trees of {name}": pool.boot.disk for name, pool in site.boot_pools().items()
    }
    for where, disk in said.items():
        if disk:
            yield [where, f"{disk.read_mb} MB/s", f"{disk.write_mb} MB/s", f"{disk.read_us} µs", f"{disk.write_us} µs"]


def _kind(site: Site, cluster: str | None) -> str:
    kinds = [k for k, those in (("owning", site.owners()), ("client", site.clients())) if cluster in those]
    return f" ({', '.join(kinds)})" if kinds else ""


def _addresses(site: Site) -> Iterator[list[str]]:
    for name, node in site.nodes.items():
        for device, leg in node.interfaces.items():
            length = site.topology.networks[leg.network].subnet.prefixlen
            yield [name, device, leg.network, f"{leg.address}/{length}", ", ".join(leg.names)]


def _links(site: Site) -> Iterator[list[str]]:
    for cable in site.cables:
        if site.channel_of(cable.a) is None:
            mtu = str(site.mtu(cable.a))
            yield [str(cable.a), str(cable.b), cable.network, _rate(cable), mtu]


def _channels(site: Site) -> Iterator[list[str]]:
    def end(one: ChannelEnd) -> list[str]:
        return [f"{one.node}:{one.name}", one.hash_policy, " ".join(one.members)]

    for channel in site.channels:
        a, b = channel.ends
        each = _rate(site.cable_at(Port(a.node, a.members[0])))
        yield [*end(a), *end(b), each, channel.lacp_rate]


def _routes(site: Site) -> Iterator[list[str]]:
    """One row a route for the nodes that follow each other and have the same routes."""
    owners = {leg.address: name for name, node in site.nodes.items() for leg in node.interfaces.values()}
    for routes, group in groupby(site.nodes.items(), key=lambda item: item[1].routes):
        names = ", ".join(dict.fromkeys(_who(site, name) for name, _ in group))
        for route in routes:
            if route.to in site.topology.networks:
                to = f"{route.to}: {site.destination(route)}"
            else:
                to = f"{route.to} ({owners[route.to]})" if route.to in owners else str(route.to)
            yield [names, to, ", ".join(f"{via} ({owners[via]})" for via in route.via)]


def _who(site: Site, node: str) -> str:
    """A node's name; of nodes that boot over the network, which may be hundreds, their pool's."""
    return f"the nodes of {site.pool_name(node)}" if node in site.diskless() else node


def _services(site: Site) -> Iterator[list[str]]:
    clusters = site.topology.clusters.items()
    for name, cluster in clusters:
        if cluster.dns:
            serve = "serves" if len(cluster.dns) == 1 else "serve"
            yield ["DNS", f"{', '.join(cluster.dns)} {serve} {site.topology.domain} to the nodes of {name}"]
    for name, cluster in clusters:
        if cluster.ntp:
            yield ["NTP", f"{cluster.ntp} gives the time to the other nodes of {name}"]
    for name, pool in site.boot_pools().items():
        yield ["boot", f"{pool.boot.server} boots the nodes of {name}"]
    for key, value in site.topology.sysctl.items():
        yield ["sysctl", f"{key} = {value}"]

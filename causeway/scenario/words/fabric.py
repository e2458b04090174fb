"""Streams through a fabric of switches with tables, for scenarios: rates beside shares, and the uplinks' bytes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from causeway.lab.changes.change import Change, together
from causeway.lab.faults import link_rate
from causeway.lab.probes import switching
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.bounds import leaves_mbit
from causeway.plan.fabrics import Fabric
from causeway.plan.fairshare import counted_bytes, tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.paths import at_rate
from causeway.plan.streams import Expected
from causeway.report.result import Table
from causeway.scenario.stage import Stage
from causeway.scenario.words import streams
from causeway.scenario.words.streams import Lone, coupled, near_rates, one_stream, rates_of

#: Rates that differ by less are one class.
_CLASS = 0.05
BYTES_WHY = "the counter has what TCP sent again, too"


@dataclass(frozen=True)
class Load:
    """Streams that ran together: what was expected, each one's Mbit/s, and the bytes on uplinks, due and seen."""

    expected: Expected
    rates: dict[str, float]
    due: dict[Port, int]
    sent: dict[Port, int]

    @property
    def mean_mbit(self) -> float:
        return sum(self.rates.values()) / len(self.rates)


def slower(stage: Stage, ports: Iterable[Port], rate_mbit: int, what: str) -> tuple[Change, Site]:
    """The cables at some ports have another rate; and the site as it is then."""
    ends = list(ports)
    change = together(what, [link_rate(stage.lab, port.node, port.device, rate_mbit) for port in ends])
    return change, reduce(lambda site, port: at_rate(site, port, rate_mbit), ends, stage.site)


def host_mbit(stage: Stage, fabric: Fabric) -> float:
    """What leaves a host of TCP payload."""
    port = host_ports(stage, fabric)[0]
    return tcp_goodput_mbit(leaves_mbit(stage.site, port), stage.site.mtu(port))


def host_ports(stage: Stage, fabric: Fabric) -> list[Port]:
    """Where the hosts are plugged into the fabric, at their own end."""
    nodes = stage.site.nodes
    return [Port(h, d) for h in fabric.hosts for d, leg in nodes[h].interfaces.items() if leg.network == fabric.network]


def one_by_one(stage: Stage, fabric: Fabric, host: str, others: Sequence[str]) -> dict[str, Lone]:
    """A stream from a host to each of the others, one after the other."""
    return {other: one_stream(stage, host, other, fabric.network) for other in others}


def near_each(stage: Stage, title: str, seen: Mapping[str, Lone]) -> None:
    for other, lone in seen.items():
        streams.near_rate(stage, f"{title}: to {other}", lone)


def classes(seen: Mapping[str, Lone]) -> list[list[str]]:
    """Hosts that are reached as fast as each other, the fastest first."""
    found: list[list[str]] = []
    last = 0.0
    for host in sorted(seen, key=lambda host: -seen[host].rate_mbit):
        rate = seen[host].rate_mbit
        if not found or rate < last * (1 - _CLASS):
            found.append([])
        found[-1].append(host)
        last = rate
    return found


def beyond(stage: Stage, fabric: Fabric, line: str) -> list[str]:
    """The hosts that a line switch's own table leads to by an uplink, as it says itself."""
    by = switching.table(stage.lab, line)
    macs = {mac_address(stage.site, port): port.node for port in host_ports(stage, fabric)}
    return [macs[mac] for mac, port in by.items() if mac in macs and port in fabric.uplinks[line]]


def load(stage: Stage, fabric: Fabric, couples: Sequence[tuple[str, str]]) -> Load:
    """Streams between couples, all at once."""
    before = _sent(stage, fabric)
    expected, measured = streams.together(stage, coupled(stage, couples, fabric.network))
    after = _sent(stage, fabric)
    sent = {line: difference(before[line], after[line]) for line in before}
    payload = {m.stream.label: round(m.megabytes * 2**20) for m in measured}
    due = {
        port: sum(counted_bytes(payload[label], expected.mtus[label]) for label in expected.on(port))
        for port in fabric.cables
    }
    return Load(expected, rates_of(measured), due, {port: sent[port.node][port.device] for port in fabric.cables})


def _sent(stage: Stage, fabric: Fabric) -> dict[str, dict[str, int]]:
    return {line: sent_bytes(stage.lab, line, ports) for line, ports in fabric.uplinks.items()}


def judge_load(stage: Stage, title: str, seen: Load) -> None:
    """Every stream beside its share, and every uplink's bytes beside those of the streams that tables send by it."""
    near_rates(stage, title, seen.expected, seen.rates)
    total = sum(seen.due.values())
    for port, due in seen.due.items():
        if due:
            what = f"{title}: bytes sent by {port}"
            stage.near(what, due, seen.sent[port], "bytes", why=BYTES_WHY)
        elif total:
            stage.same(f"{title}: idle {port}, per cent of the bytes", 0, round(100 * seen.sent[port] / total))


def show_loads(stage: Stage, title: str, loads: Mapping[str, tuple[Load, float]]) -> None:
    """A line a load: what each stream had, and their mean in what a host has alone (Mbit/s, beside each load)."""
    rows = []
    for name, (seen, alone) in loads.items():
        due = sorted(seen.expected.rates.values())
        each = " ".join(f"{rate:.1f} x{due.count(rate)}" for rate in dict.fromkeys(due))
        got = f"{min(seen.rates.values()):.1f} to {max(seen.rates.values()):.1f}"
        rows.append([name, each, got, f"{sum(due) / len(due) / alone:.3f}", f"{seen.mean_mbit / alone:.3f}"])
    columns = ["load", "computed, each", "measured", "mean / host, computed", "measured"]
    stage.show(Table(title, columns, rows))

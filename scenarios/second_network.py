"""Files and messages on one network take from each other; on a network of their own messages take nothing.

Claim: a client reads what its gateway's link carries, and its own adapter has room for more. While many streams come to
it by the same network, files and messages have the parts of that adapter that their connections have. With the messages
on its second adapter, in a network of its own, both have all that they have alone.

Cause: TCP's connections share what is too slow for all of them one by one, whatever they carry.

Source: GPFS at NERSC, sections II and VIII: "we would like to ensure that I/O traffic and inter-process communication
traffic are separate to minimize the impact that one has on the other"; "a second IB network by utilizing the second
port on the dual-port IB cards".
"""

from dataclasses import dataclass
from math import ceil

from causeway.lab.probes.fio import Job
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import spread
from causeway.report.result import Table
from causeway.scenario.cast import Apart, Ask, Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY
from causeway.scenario.words.gateways import clear, gateway_mb, lone_files
from causeway.scenario.words.storage import Beside, beside, judge_ratio, messages, port_in
from causeway.scenario.words.streams import together
from causeway.scenario.words.transports import write_each

#: Streams of messages, and processes that read one file.
STREAMS, READERS = 8, 2
#: Seconds for which messages pass, and for which files are read: for a shorter time than that, and for a longer one.
MESSAGES_S, SHORTER_S, LONGER_S = 4.0, 1.0, 5.0


@dataclass(frozen=True)
class Cast:
    """Clients with gateways, and of one of them the two networks that it has in common with another."""

    gateways: Gateways
    apart: Apart


def cast(ask: Ask) -> Cast:
    gateways = ask.gateways(2)
    return Cast(gateways, ask.apart(gateways))


def play(stage: Stage, cast: Cast) -> None:
    client, peer, usual, other = cast.apart.client, cast.apart.peer, cast.apart.usual, cast.apart.other
    name, port = cast.gateways.filesystem, port_in(stage, client, usual)
    at, couples = stage.site.topology.filesystems[name].mount_point, [(peer, client)] * STREAMS
    file_mb = gateway_mb(stage.site, cast.gateways, client)["read"]
    adapter_mb = tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port)) / 8
    connections = spread(stage.site, name, "read").connections
    part = connections / (connections + STREAMS)
    rows: list[list[str]] = []

    def judge(title: str, what: str, due_mb: float, seen_mb: float) -> None:
        stage.near(f"{title}: {what}", round(due_mb, 1), round(seen_mb, 1), "MB/s", within=TOLERANCE, why=WHY)
        rows.append([title, what, f"{due_mb:.1f}", f"{seen_mb:.1f}"])

    def read(read_mb: float, seconds: float, network: str = "") -> Beside:
        """A file is read for so many seconds at such a rate, beside messages by a network."""
        size_mib = ceil(seconds * read_mb * 1e6 / 2**20 / READERS)
        jobs = [Job(client, f"{at}/io.{client}", n * size_mib, size_mib) for n in range(READERS)]
        return beside(stage, name, jobs, messages(stage, couples, network) if network else [], MESSAGES_S)

    with stage.arrange(f"{client} has a file"):
        stage.defer(lambda: clear(stage, name, [client]), "the file is gone")
        size_mb = max(LONGER_S * part * adapter_mb, SHORTER_S * file_mb)
        write_each(stage, cast.gateways, {client: READERS * ceil(size_mb * 1e6 / 2**20 / READERS)})

    with stage.healthy("files alone have the gateway's link, messages alone an adapter, in either network"):
        alone = read(file_mb, SHORTER_S)
        judge("alone", "files", alone.due_mb, alone.seen_mb)
        judge_ratio(stage, "files alone", 1, alone.seen_mb, file_mb, "the gateway's link")
        for network in (usual, other):
            expected, measured = together(stage, messages(stage, couples, network), MESSAGES_S)
            seen_mb = sum(m.rate_mbit for m in measured) / 8
            judge("alone", f"messages by {network}", sum(expected.rates.values()) / 8, seen_mb)

    with stage.perturb(f"messages come to {client} by {usual} while it reads"):
        files, messages_beside = (read(part * adapter_mb, seconds, usual) for seconds in (SHORTER_S, LONGER_S))

    with stage.judge(f"both have their connections' part of {port}, and less than alone"):
        judge(f"both by {usual}", "files", files.due_mb, files.seen_mb)
        judge(f"both by {usual}", "messages", messages_beside.messages_due_mb, messages_beside.messages_mb)
        judge_ratio(stage, "files beside messages", part, files.seen_mb, adapter_mb, port.device)
        judge_ratio(stage, "messages beside files", 1 - part, messages_beside.messages_mb, adapter_mb, port.device)

    with stage.contrast(f"with the messages on {other} both have what they have alone"):
        apart = read(file_mb, SHORTER_S, other)
        judge(f"messages by {other}", "files", apart.due_mb, apart.seen_mb)
        judge(f"messages by {other}", "messages", apart.messages_due_mb, apart.messages_mb)
        judge_ratio(stage, "files, messages apart", 1, apart.seen_mb, alone.seen_mb, "themselves alone")
        judge_ratio(stage, "messages apart", 1, apart.messages_mb, adapter_mb, port.device)
        title = f"MB/s, {STREAMS} streams and the files of {client}"
        stage.show(Table(title, ["when", "what", "computed", "measured"], rows))

    with stage.restore("a new file alone has the gateway's link"):
        afterwards = lone_files(stage, cast.gateways, client, file_mb).read
        judge_ratio(stage, "files, afterwards", 1, afterwards.measured_mb, file_mb, "the gateway's link")

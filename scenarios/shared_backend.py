"""Two clusters share what leads to a filesystem: each has its part by the number of its clients, not by its wires.

Claim: while all read at once, one client of another cluster, with a wire that could carry all, has as much as one
client of the first: a fifth beside four of them, a half beside one. Alone the first cluster's clients have the whole.

Cause: connections share a cable that is too slow for all of them one by one, and each client has as many.

Source: GPFS at NERSC, section III: "it should be noted that this bandwidth will be shared by the multiple systems that
will access NGF".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from causeway.report.result import Table
from causeway.scenario.cast import Ask, Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY
from causeway.scenario.words.gateways import clear, narrow_mb
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.storage import judge_ratio
from causeway.scenario.words.transports import read_at_once, write_each

#: Seconds for which all read.
SECONDS = 1.5


@dataclass(frozen=True)
class Cast:
    """Clients with gateways, and one of another cluster that reaches the same servers by the same cable."""

    gateways: Gateways
    other: str


def cast(ask: Ask) -> Cast:
    gateways = ask.gateways(3)
    return Cast(gateways, ask.beside(gateways))


def play(stage: Stage, cast: Cast) -> None:
    gateways, other, name = cast.gateways, cast.other, cast.gateways.filesystem
    clients, most_mb = gateways.clients, narrow_mb(stage.site, gateways)["read"]
    size_mib = round(SECONDS * most_mb * 1e6 / 2**20 / (len(clients) + 1))
    rows: list[list[str]] = []

    def read(title: str, nodes: Sequence[str]) -> dict[str, float]:
        """MB/s of each, beside what is computed."""
        found = read_at_once(stage, gateways, dict.fromkeys(nodes, size_mib))
        for node, (due, seen) in found.items():
            stage.near(f"{title}: {node}", round(due, 1), round(seen, 1), "MB/s", within=TOLERANCE, why=WHY)
            rows.append([title, node, f"{due:.1f}", f"{seen:.1f}"])
        return {node: seen for node, (_, seen) in found.items()}

    with stage.arrange("each client has a file"):
        stage.defer(lambda: clear(stage, name, [*clients, other]), "the files are gone")
        write_each(stage, gateways, dict.fromkeys([*clients, other], size_mib))

    with stage.healthy("alone the clients of the first have the cable"):
        alone = read("alone", clients)
        judge_ratio(stage, "alone", 1, sum(alone.values()), most_mb, "the cable")

    with stage.perturb(f"{other} reads, too"):
        everybody = [*clients, other]

    with stage.judge(f"it has one of {len(everybody)} parts, and the first have the others"):
        seen = read("all", everybody)
        judge_ratio(stage, other, 1 / len(everybody), seen[other], most_mb, "the cable")
        rest = sum(seen[client] for client in clients)
        judge_ratio(stage, "all clients of the first", len(clients) / len(everybody), rest, most_mb, "the cable")

    with stage.contrast("beside one client of the first it has a half"):
        two = read("one of each", [clients[0], other])
        judge_ratio(stage, f"{other} beside one", 0.5, two[other], most_mb, "the cable")
        afterwards = read("alone again", clients)
        judge_ratio(stage, "alone again", 1, sum(afterwards.values()), most_mb, "the cable")
        stage.show(Table("MB/s read", ["when", "client", "computed", "measured"], rows))

    with stage.restore("all reach all servers"):
        seen_by = {node: mounted(stage, node)[name] for node in everybody}
        stage.same("servers", {node: due_mounts(stage, node)[name] for node in everybody}, seen_by)

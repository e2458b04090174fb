"""Messages beside files: an uplink that is too slow for both starves the storage servers, and a wide one neither.

Claim: where hosts at the storage servers' switch pass messages by the same uplink, clients read what it leaves them.
Each connection has an equal part of it, so a few hosts with many streams outweigh all files. With an uplink for all
ports of that switch both have what they have alone, and so has storage where there are no messages.

Cause: TCP's connections share what is too slow for all of them one by one, whatever they carry and whoever has them.

Source: GPFS Best Practices, "GPFS in iDataPlex": "if the message passing traffic is heavy, the blocking factor may
limit NSD server performance; in the worst case, it may be necessary to reduce or eliminate the blocking factor".
"""

from dataclasses import dataclass

from causeway.report.result import Table
from causeway.scenario.cast import Ask, Blocked, Forwarded
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import judge_files
from causeway.scenario.words.storage import (
    Beside,
    array_mb,
    clear,
    files,
    front_ports,
    judge_beside,
    judge_ratio,
    port_mb,
    read_beside,
)

STREAMS = 8


@dataclass(frozen=True)
class Cast:
    """A filesystem behind servers that forward, the cable of these servers' switch, and couples that send by it."""

    storage: Forwarded
    blocked: Blocked
    couples: list[tuple[str, str]]


def cast(ask: Ask) -> Cast:
    storage = ask.forwarded(2)
    blocked = ask.blocked(storage)
    return Cast(storage, blocked, ask.couples(storage, blocked, 2))


def play(stage: Stage, cast: Cast) -> None:
    storage, far, couples = cast.storage, cast.blocked.far, cast.couples
    own_mbit = stage.site.sends_mbit(front_ports(stage, storage, [couples[0][0]])[0])
    own_mb, most_mb = port_mb(stage, storage, couples[0][0]), array_mb(stage, storage)["read"]
    ports, half_mbit = len(storage.gateways) + len(couples), stage.site.sends_mbit(far) // 2
    messages = [couple for couple in couples for _ in range(STREAMS)]
    rows: list[list[str]] = []

    def read(title: str, couples: list[tuple[str, str]]) -> Beside:
        seen = read_beside(stage, storage, couples)
        judge_beside(stage, title, seen)
        rows.append([title, *seen.row])
        return seen

    with stage.arrange("each client has written its files"):
        stage.defer(lambda: clear(stage, storage), "the files are gone")
        files(stage, storage, storage.clients)

    with stage.healthy("without messages all clients read what the array gives"):
        judge_ratio(stage, "no messages", 1, read("no messages", []).seen_mb, most_mb, "the array")

    with stage.perturb(f"{far.node}'s uplink has half its rate"):
        change, narrow = slower(stage, [far], half_mbit, f"{far} is too slow")
        made = stage.make(change)

    with stage.judge("files have the uplink alone, and beside messages their connections' part of it"):
        with stage.as_if(narrow):
            alone, beside = read("half the uplink, no messages", []), read("half the uplink, messages", messages)
        up_mb = own_mb * half_mbit / own_mbit
        judge_ratio(stage, "no messages", min(1, most_mb / up_mb), alone.seen_mb, up_mb, "the uplink")
        part = len(storage.clients) / (len(storage.clients) + len(messages))
        judge_ratio(stage, "beside messages", part, beside.seen_mb, up_mb, "the uplink")

    with stage.contrast("with an uplink for all of its ports files have the array, and messages their hosts' links"):
        made.undo()
        change, wide = slower(stage, [far], ports * own_mbit, f"{far} carries all its ports")
        made = stage.make(change)
        with stage.as_if(wide):
            both = read("an uplink for all ports, messages", messages)
        judge_ratio(stage, "beside messages", 1, both.seen_mb, most_mb, "the array")
        judge_ratio(stage, "messages", len(couples), both.messages_mb, own_mb, "a host's link")
        made.undo()

        columns = ["what", "files, computed", "measured", "messages, measured"]
        stage.show(Table(f"MB/s, {len(messages)} streams beside the files of {len(storage.clients)}", columns, rows))

    with stage.restore("all clients have what the array gives"):
        judge_files(stage, "afterwards", files(stage, storage, storage.clients))
        clear(stage, storage)

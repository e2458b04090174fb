"""What was seen before, between the steps, after and after the way back, beside what was predicted. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address

from causeway.lab.probes.pairs import Pair, Seen
from causeway.lab.probes.watch import Watched
from causeway.model.site import Site
from causeway.play.load import Carried
from causeway.play.mounts import Mount, Mounts
from causeway.play.streams import Played
from causeway.rehearse.answer import Prediction
from causeway.rehearse.rates import Pattern, Rates, falls, moved
from causeway.rehearse.reach import Reach
from causeway.report.rehearsal import Answer, Turn

#: What a pair sees of what was predicted for it: state, packets, routers.
_WORDS = {"yes": "yes", "stalls": "large packets are lost", "no": "no", "not predicted": "not predicted"}
#: Moves of a prediction that are played; the others are computed alone.
_PLAYED = ("reaches", "way", "way back", "packet size", "command")


@dataclass(frozen=True)
class Step:
    """What was seen after a part, and what is predicted for it, where anything is."""

    title: str
    seen: Mapping[Pair, Seen]
    predicted: Reach | None
    mounts: Mounts = field(default_factory=Mounts)
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)


def together(each: Iterable[tuple[Answer, str, str]]) -> list[Answer]:
    """Answers that say the same of several as one: (answer, one, other); {a} and {b} are then the first two of them."""
    found: dict[tuple[str, str, str, str, str, str], Answer] = {}
    for answer, one, other in each:
        key = (answer.question, answer.turn, answer.what, answer.before, answer.predicted, answer.played)
        kept = found.setdefault(key, answer)
        others = kept.pairs.setdefault(one, [])
        if other:
            others.append(other)
    return [_named(answer) for answer in found.values()]


def _named(answer: Answer) -> Answer:
    one, others = next(iter(answer.pairs.items()))
    said = answer.predicted.replace("{a}", one)
    return replace(answer, predicted=said.replace("{b}", others[0].partition(":")[0] if others else ""))


def said(predicted: Reach, pair: Pair) -> str:
    """What is predicted for a pair, with {a} and {b} for the two; "" where the pair is not there any more."""
    talk = predicted.talks.get(pair)
    return "" if talk is None else talk.told("{a}", "{b}")


def reach(site: Site, before: Mapping[Pair, Seen], after: Mapping[Pair, Seen], predicted: Reach) -> Iterator[Answer]:
    """What of talking is another thing now: whether at all, with packets of which size, and by which routers."""

    def each() -> Iterator[tuple[Answer, str, str]]:
        for pair, was in before.items():
            now = after.get(pair)
            if now is None or was == now:
                continue
            one, other = pair[0], str(pair[1])
            talk, see = predicted.talks.get(pair), look(site, pair)
            if was.state != now.state:
                turn: Turn = "worse" if was.state == "yes" else "better" if now.state == "yes" else "other"
                words = said(predicted, pair)
                yield Answer("reach", turn, "reaches", _WORDS[was.state], words, _WORDS[now.state], see=see), one, other
            if "no" in (was.state, now.state):
                continue
            if was.state == now.state == "yes" and was.mtu != now.mtu:
                turn = "worse" if now.mtu < was.mtu else "better"
                due = f"{talk.mtu} bytes" if talk and talk.works else ""
                values = f"{was.mtu} bytes", due, f"{now.mtu} bytes"
                yield Answer("reach", turn, "size of full packets", *values, see=see), one, other
            routers = predicted.routers(*pair) if talk else ((), ())
            ways = ("way", was.there, routers[0], now.there), ("way back", was.back, routers[1], now.back)
            for what, old, due_way, new in ways:
                if old is not None and new is not None and old != new:
                    yield Answer("ways", "other", what, _way(old), _way(due_way), _way(new), see=see), one, other

    yield from together(each())


def look(site: Site, pair: Pair) -> list[str]:
    """The commands that show how a pair does, for one of several that are alike."""
    one, port = pair
    leg = site.nodes[port.node].interfaces.get(port.device)
    if leg is None:
        return []
    size = site.mtu(port) - 28
    return [
        f"{one}# ip route get {leg.address}",
        f"{one}# ping -c 1 -M do -s {size} {leg.address}",
        f"{one}# tracepath -n {leg.address}",
    ]


def _way(routers: tuple[str, ...]) -> str:
    return f"by {', '.join(routers)}" if routers else "directly"


def unlike(seen: Mapping[Pair, Seen], predicted: Reach, when: str) -> Iterator[Answer]:
    """Where a lab does otherwise than predicted: a fault of the prediction."""

    def each() -> Iterator[tuple[Answer, str, str]]:
        for pair, is_ in seen.items():
            talk = predicted.talks.get(pair)
            if talk is None or talk.state == "not predicted":
                continue
            if talk.state == "stalls" and is_.state == "yes" and predicted.by_member(*pair):
                continue  # a connection that takes another member is lost
            for what, due, found in _beside(predicted, pair, is_):
                if due != found:
                    yield Answer("prediction", "worse", f"{what} {when}", "", due, found), pair[0], str(pair[1])

    yield from together(each())


def _beside(predicted: Reach, pair: Pair, seen: Seen) -> Iterator[tuple[str, str, str]]:
    talk = predicted.talks[pair]
    yield "reaches", _WORDS[talk.state], _WORDS[seen.state]
    if talk.state == seen.state == "yes":
        yield "size of full packets", f"{talk.mtu or seen.mtu} bytes", f"{seen.mtu} bytes"
        there, back = predicted.routers(*pair)
        if seen.there is not None:
            yield "way", _way(there), _way(seen.there)
        if seen.back is not None:
            yield "way back", _way(back), _way(seen.back)


def between(before: Mapping[Pair, Seen], steps: Iterable[Step], after: Mapping[Pair, Seen]) -> Iterator[Answer]:
    """Who cannot talk after a step, and could before it and can at the end."""

    def each() -> Iterator[tuple[Answer, str, str]]:
        for step in steps:
            for pair, now in step.seen.items():
                last = after.get(pair)
                whole = before[pair].state == "yes" and last is not None and last.state == "yes"
                if whole and now.state != "yes":
                    due = said(step.predicted, pair) if step.predicted else ""
                    what = f"reaches after {step.title}"
                    yield Answer("during", "worse", what, "yes", due, _WORDS[now.state]), pair[0], str(pair[1])

    yield from together(each())


def meanwhile(watched: Watched, after: Mapping[Pair, Seen], when: str, *, calm: bool) -> Iterator[Answer]:
    """What was lost: pings of those who can talk afterwards, which are none at the end; sessions; writes that hung.

    `calm`: it is predicted that no write hangs.
    """

    def each() -> Iterator[tuple[Answer, str, str]]:
        for pair, (total, longest) in watched.lost.items():
            if pair in after and after[pair].state != "no":
                see = [f"{pair[0]}# ping -i {watched.every_s:g} {{the other}}"]
                for_good = pair in watched.still and after[pair].state == "yes"
                what = f"pings lost {when}" + (", and afterwards" if for_good else "")
                turn: Turn = "worse" if for_good else "other"
                yield Answer("lost", turn, what, "", "", _stalls(total, longest), see=see), pair[0], str(pair[1])
        for pair, why in watched.broke.items():
            yield Answer("sessions", "worse", f"sessions that broke {when}", "", "", why), pair[0], str(pair[1])
        for pair, silent in watched.silent.items():
            if pair not in watched.broke and pair in after and after[pair].state != "no":
                what = f"sessions that were silent {when}"
                yield Answer("lost", "other", what, "", "", _seconds(silent)), pair[0], str(pair[1])
        for file in watched.files:
            if file.failed:
                what = f"writes to {file.filesystem} {when}"
                yield Answer("files", "worse", what, "done", "", file.failed), file.node, ""
            else:
                what, hung = f"writes to {file.filesystem} hung {when}", _stalls(file.stalled_s, file.longest_s)
                turn = "worse" if calm and file.stalled_s else "other"
                yield Answer("files", turn, what, "", _seconds(0) if calm else "", hung), file.node, ""

    yield from together(each())


def _stalls(total: float, longest: float) -> str:
    return _seconds(total) + (f", at most {_seconds(longest)} at once" if longest < total else "")


def _seconds(value: float) -> str:
    return f"{value:.1f} s"


def mounts(site: Site, before: Mounts, after: Mounts, refused: Mapping[tuple[str, str], str]) -> Iterator[Answer]:
    """Filesystems that are mounted no more, or could not be mounted anew, where they could; and keys that are others.

    `refused` is what is predicted to be refused, by cluster and filesystem.
    """

    def each() -> Iterator[tuple[Answer, str, str]]:
        for node, name in sorted(before.on - after.on):
            yield Answer("files", "worse", f"mounts {name}", "yes", "", "no", see=[f"{node}# findmnt"]), node, ""
        for mount, was in before.anew.items():
            now = after.anew.get(mount)
            if now is not None and was != now:
                turn: Turn = "worse" if now else "better"
                due, what = _refused(site, mount, refused), f"new mounts of {mount[1]}"
                see = [f"{mount[0]}# mcmount {mount[1]}"]
                yield Answer("files", turn, what, was or "yes", due, now or "yes", see=see), mount[0], ""

    yield from together(each())
    for cluster, key in before.keys.items():
        if after.keys[cluster] != key:
            yield Answer("files", "other", f"key of {cluster}", key, "", after.keys[cluster])


def unlike_mounts(site: Site, seen: Mounts, refused: Mapping[tuple[str, str], str], when: str) -> Iterator[Answer]:
    """New mounts that are let in and were to be refused, or the other way round."""

    def each() -> Iterator[tuple[Answer, str, str]]:
        for mount, why in seen.anew.items():
            due = _refused(site, mount, refused)
            if bool(due) != bool(why):
                what = f"new mounts of {mount[1]} {when}"
                yield Answer("prediction", "worse", what, "", due or "yes", why or "yes"), mount[0], ""

    yield from together(each())


def _refused(site: Site, mount: Mount, refused: Mapping[tuple[str, str], str]) -> str:
    node, name = mount
    return refused.get((site.nodes[node].cluster or "", name), "")


def rates(
    found: Iterable[tuple[Pattern, Rates, Rates]], before: Mapping[str, Played], after: Mapping[str, Played]
) -> Iterator[Answer]:
    """Each pattern that was played: its distribution decides, of which the ports that were drawn are one draw."""
    for pattern, was, now in found:
        name = pattern.name
        if name not in before or name not in after:
            continue
        turn: Turn = "other"
        if moved(was, now):
            turn = "worse" if falls(was, now) else "better" if falls(now, was) else "other"
        mean = f"{was.mean:.0f} > {now.mean:.0f} {now.unit} over all draws"
        yield Answer("rates", turn, name, _played(before[name]), mean, _played(after[name]))
        for when, one in (("before", before[name]), ("after", after[name])):
            if not one.as_computed:
                yield Answer("prediction", "worse", f"{name} {when}", "", _computed(one), _played(one))


def load(carried: Carried, found: Iterable[tuple[Pattern, Rates, Rates]]) -> Iterator[Answer]:
    """Of streams that ran all the time: what they got by which members, what moved, and what that cost."""
    name, before, after = carried.name, carried.before, carried.after
    was, now = next((was, now) for pattern, was, now in found if pattern.name == name)
    mean = f"{was.mean:.0f} > {now.mean:.0f} {now.unit} over all draws"
    told = (f"{share.mbit:.1f} Mbit/s: {_parts(share.parts)}" for share in (before, after))
    yield Answer("load", "other", f"{name}, all the time", next(told), mean, next(told))
    yield Answer("load", "other", f"{name}, during the change", "", "", f"{carried.meanwhile_mbit:.1f} Mbit/s")
    for label, mbit in before.streams.items():
        values = f"{mbit:.1f} Mbit/s", "", f"{after.streams.get(label, 0.0):.1f} Mbit/s"
        if label in carried.ended:
            yield Answer("load", "worse", f"stream {label} ended", *values)
        else:
            yield Answer("load", "other", f"stream {label}", *values)
    yield Answer(
        "load", "other", "packets that their senders' TCP sent again meanwhile", "", "", f"{carried.sent_again}"
    )


def _played(one: Played) -> str:
    return f"{one.mbit:.1f} Mbit/s: {_parts(one.parts)}"


def _computed(one: Played) -> str:
    return f"{one.due_mbit:.1f} Mbit/s: {_parts(one.due_parts)}"


def _parts(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{member} {part:.0f} %" for member, part in parts.items())


def computed(prediction: Prediction, played: Iterable[str]) -> Iterator[Answer]:
    """What a prediction has that nobody plays: names, keys, single points of failure, patterns beyond those played."""
    names = {*played, *_PLAYED}
    for move in prediction.moves:
        if move.about not in names and not move.about.startswith("reaches after "):
            before, after = move.example
            pairs = {one: list(others) for one, others in move.pairs.items()}
            yield Answer("computed", move.turn, move.about, before, after, "", pairs)


def addresses(reach_of: Reach, nodes: Iterable[str]) -> dict[Pair, IPv4Address]:
    """Whom each of some nodes is to talk to, and by which address."""
    own = set(nodes)
    return {
        (one, port): reach_of.site.nodes[port.node].interfaces[port.device].address
        for one, port in reach_of.talks
        if one in own and port.node in own
    }

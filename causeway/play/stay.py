"""A change that is made step by step in a lab that stays up: each part, and what came of it."""

from collections.abc import Iterator, Sequence

from causeway.lab.lab import Lab
from causeway.lab.probes.pairs import seen
from causeway.lab.probes.watch import Watch
from causeway.play import acts, judge, native
from causeway.play.rehearsal import chosen, settle_soon, summary
from causeway.rehearse.change import Change
from causeway.rehearse.parts import Part
from causeway.rehearse.reach import Reach


def _after(change: Change, parts: Sequence[Part], number: int) -> Reach:
    """Who reaches whom after so many parts; where that is not computed, as before all, and as after all at the end."""
    if number == len(parts):
        return Reach(change.after)
    return Reach((number and parts[number - 1].after) or change.before)


def make(lab: Lab, change: Change, parts: Sequence[Part], number: int) -> Iterator[str]:
    """Make the part of this number, from 1 on, and wait until what was lost is there again, 10 s at most.

    Gives what came of it, a line each: commands that failed, who can talk then, how its nodes are set otherwise. Number
    0 makes none, and tells who can talk before all.
    """
    nodes = chosen(change)
    was = _after(change, parts, max(0, number - 1))
    before = seen(lab, judge.addresses(was, nodes))
    if not number:
        yield summary(before)
        return
    part = parts[number - 1]
    set_before = native.read(lab, part.nodes)
    targets = {pair: to for pair, to in judge.addresses(was, nodes).items() if before[pair].state == "yes"}
    watch = Watch(lab, targets, {})
    with watch.watching():
        for command, why in acts.do(lab, part.acts):
            yield f"{command} fails: {why}"
        settle_soon(watch)
    yield summary(seen(lab, judge.addresses(_after(change, parts, number), nodes)))
    for node, what, one, other in native.differences(set_before, native.read(lab, part.nodes)):
        yield f"{node}: {what}: {one} > {other}"

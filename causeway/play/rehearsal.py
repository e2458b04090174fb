"""Play a change in a lab that is up as the site is today: measure, change, measure, go back, measure.

Where labs are cloned, what is measured before is measured in a twin (`measure`), and the change made in another.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from causeway.errors import LabBroken
from causeway.folders import MADE_OF
from causeway.lab import clock
from causeway.lab.changes.change import Step as LabStep
from causeway.lab.filesystems import mounted
from causeway.lab.lab import RUNS, Lab
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.pairs import Pair, Seen, seen
from causeway.lab.probes.switching import deal_buckets
from causeway.lab.probes.watch import Watch, Watched
from causeway.play import acts, judge, mounts, native, streams
from causeway.play.before import Before, of_a_twin
from causeway.play.judge import Step
from causeway.play.load import Load
from causeway.play.mounts import Mounts
from causeway.play.native import Native
from causeway.play.streams import Played
from causeway.process import transcript
from causeway.rehearse.alike import alike
from causeway.rehearse.answer import Prediction
from causeway.rehearse.change import Change
from causeway.rehearse.parts import Command, Part
from causeway.rehearse.rates import Pattern, moved
from causeway.rehearse.reach import Reach
from causeway.render.drawing import svg
from causeway.report import files, rehearsal
from causeway.report.rehearsal import Answer, Done, Rehearsal, Turn

_TRANSCRIPT = "transcript.txt"
#: Of more nodes two stand for all that are alike.
_MOST_NODES = 40
#: Patterns of streams that are played, those that move first: each takes seconds, before and after.
_MOST_PATTERNS = 2
#: How long all that was lost may take to come back, and how long nothing must be lost before anybody looks.
_SETTLE_S, _QUIET_S = 60.0, 2.0
#: The same between two parts: a bond that comes up takes three seconds.
_SOON_S, _SOON_QUIET_S = 10.0, 1.5
#: And members that come back after the first one has (LACP).
_AGREE_S = 30.0


@dataclass(frozen=True)
class Wanted:
    """What is rehearsed: a change in its parts, what is predicted for it, the user's own way back if there is one.

    `load` are the streams that run all the time that the change takes.
    """

    change: Change
    name: str
    prediction: Prediction
    parts: Sequence[Part]
    back: Sequence[Part] | None
    one_by_one: bool
    load: Pattern | None


@dataclass
class _Made:
    """A part that is made: how its nodes were set before, and what gives them their files back."""

    part: Part
    before: Mapping[str, Native]
    old_files: list[LabStep]


def play(lab: Lab, wanted: Wanted, seed: int, started: datetime, say: Callable[[str], None]) -> tuple[Rehearsal, Path]:
    """Rehearse, and write the report. LabBroken where the lab does not even do what the site promises today."""
    folder = files.new_folder(RUNS, started, clock.name(), seed)
    played = _Rehearsal(lab, wanted, seed, say)
    before = (of_a_twin() if clock.is_uml() else None) or _measured(played, folder)
    (folder / _TRANSCRIPT).write_text(before.transcript)
    transcript.to(folder / _TRANSCRIPT)
    watch = clock.Watch()
    try:
        played.play(before)
    finally:
        transcript.to(None)
    result = Rehearsal(
        id=folder.name,
        site=lab.site.name,
        change=wanted.name,
        clock=clock.name(),
        seed=seed,
        started=started.isoformat(timespec="seconds"),
        wall_s=before.wall_s + watch.wall_s,
        virtual_s=before.virtual_s + watch.virtual_s,
        answers=played.answers,
        parts=played.done,
        not_predicted=list(wanted.change.unpredicted),
        asked=list(played.asked),
        made_of=json.loads(MADE_OF.read_text()) if MADE_OF.exists() else {},
    )
    rehearsal.write(result, folder, svg.inline(wanted.change.after))
    return result, folder


def measure(lab: Lab, wanted: Wanted, seed: int, say: Callable[[str], None]) -> None:
    """Measure what is before, and leave it for the lab's twin, in which the change is made. LabBroken as `play`."""
    with TemporaryDirectory() as folder:
        _measured(_Rehearsal(lab, wanted, seed, say), Path(folder)).leave()


def _measured(played: "_Rehearsal", folder: Path) -> Before:
    """What is before, with its transcript, which a folder has meanwhile."""
    file = folder / _TRANSCRIPT
    file.touch()
    transcript.to(file)
    watch = clock.Watch()
    try:
        reached, mounted, rates = played.measure()
    finally:
        transcript.to(None)
    (done,) = played.done
    return Before(reached, mounted, rates, done, watch.wall_s, watch.virtual_s, file.read_text())


class _Rehearsal:
    """One that is on its way."""

    def __init__(self, lab: Lab, wanted: Wanted, seed: int, say: Callable[[str], None]) -> None:
        self.lab, self.wanted, self.seed, self.say = lab, wanted, seed, say
        self.after_lab = Lab(wanted.change.after, lab.folder)
        self.was, self.due = Reach(wanted.change.before), Reach(wanted.change.after)
        self.nodes = chosen(wanted.change)
        self.answers: list[Answer] = []
        self.done: list[Done] = []
        self.asked = [
            name
            for name in rehearsal.QUESTIONS
            if (name != "files" or lab.site.topology.filesystems)
            and (name != "during" or len(wanted.parts) > 1)
            and (name != "load" or wanted.load is not None)
        ]
        self._streamed_at: dict[str, float] = {}
        self._moves_keys = any(step.keys.own for step in wanted.change.steps)

    def measure(self) -> tuple[dict[Pair, Seen], Mounts, dict[str, Played]]:
        """Before anything is changed: who reaches whom, what is mounted, what streams get."""
        with self._part("before: who reaches whom, what streams get") as said:
            reached = self._reach(self.lab, self.was)
            self._sound(reached)
            mounted = mounts.read(self.lab, self.was, self.nodes)
            rates = {pattern.name: self._stream(self.lab, pattern) for pattern in self._patterns()}
            said.append(summary(reached))
        return reached, mounted, rates

    def play(self, measured: Before) -> None:
        """Make the change, and take it back."""
        self.done = [measured.done]
        before, mounted, rates_before = measured.reached, measured.mounted, measured.rates
        touched = {node for part in self.wanted.parts for node in part.nodes}
        asked = [name for name in lab_nodes(self.lab) if name in touched or name in self.nodes]
        self.answers += judge.unlike(before, self.was, "before")
        self.answers += judge.unlike_mounts(self.lab.site, mounted, {}, "before")
        set_before = native.read(self.lab, asked)
        patterns = self._patterns()
        steps, made, watched = self._change(before)
        with self._part("afterwards") as said:
            after = self._reach(self.after_lab, self.due)
            mounted_after = mounts.read(self.after_lab, self.due, self.nodes)
            rates_after = {p.name: self._stream(self.after_lab, p) for p in patterns}
            said.append(summary(after))
        self.answers += judge.between(before, steps, after)
        self.answers += judge.meanwhile(watched, after, "during the change", calm=self._calm(mounted))
        self.answers += judge.reach(self.wanted.change.after, before, after, self.due)
        refused = self.wanted.parts[-1].refused
        self.answers += judge.mounts(self.lab.site, mounted, mounted_after, refused)
        self.answers += judge.unlike_mounts(self.lab.site, mounted_after, refused, "afterwards")
        self.answers += judge.rates(self.wanted.prediction.rates, rates_before, rates_after)
        self.answers += judge.computed(self.wanted.prediction, rates_before)
        for step in steps:
            if step.predicted is not None:
                self.answers += judge.unlike(step.seen, step.predicted, f"after {step.title}")
            self.answers += judge.unlike_mounts(self.lab.site, step.mounts, step.refused, f"after {step.title}")
        self.answers += judge.unlike(after, self.due, "afterwards")
        self._back(made, before, after, set_before, mounted)

    # before

    def _reach(self, lab: Lab, reach: Reach) -> dict[Pair, Seen]:
        return seen(lab, judge.addresses(reach, self.nodes))

    def _sound(self, before: Mapping[Pair, Seen]) -> None:
        """The lab is what the site is today, or there is nothing to change."""
        wrong = [
            f"{one} > {port}: {is_.state}"
            for (one, port), is_ in before.items()
            if self.was.talks[one, port].works and is_.state != "yes"
        ]
        if wrong:
            raise LabBroken(f"before anything is changed, {'; '.join(wrong[:5])}, and the site says yes ({len(wrong)})")

    def _calm(self, mounted: Mounts) -> bool:
        """Whether it is predicted that every client reaches all its servers, whatever part was made last."""
        change = self.wanted.change
        if change.unpredicted or change.fails or not change.steps:
            return False
        reaches = [self.due, *(Reach(part.after) for part in self.wanted.parts if part.after is not None)]
        return all(mounts.all_answer(reach, node, name) for reach in reaches for node, name in mounted.on)

    def _patterns(self) -> list[Pattern]:
        sites = self.wanted.change.before, self.wanted.change.after
        found = [
            (not moved(was, now), pattern)
            for pattern, was, now in self.wanted.prediction.rates
            if was.values and now.values and all(streams.playable(site, pattern) for site in sites)
        ]
        return [pattern for _, pattern in sorted(found, key=lambda each: each[0])][:_MOST_PATTERNS]

    def _stream(self, lab: Lab, pattern: Pattern) -> Played:
        self.say(f"streams: {pattern.name}")
        rested = self._streamed_at.get(pattern.name, monotonic() - streams.REST_S) + streams.REST_S
        sleep(max(0.0, rested - monotonic()))  # the same ports as before
        try:
            return streams.play(lab, pattern, self.seed)
        finally:
            self._streamed_at[pattern.name] = monotonic()

    def _agree(self, lab: Lab) -> None:
        """Wait for the channels' ends to agree, those that do, and have switches deal frames out to all members."""
        ends = [end for channel in lab.site.channels for end in channel.ends]
        begun = monotonic()
        while not all(read_channel(lab, end).negotiated for end in ends) and monotonic() - begun < _AGREE_S:
            sleep(1.0)
        whole = [c for c in lab.site.channels if all(read_channel(lab, end).negotiated for end in c.ends)]
        deal_buckets(Lab(replace(lab.site, channels=tuple(whole)), lab.folder))

    # the change

    def _change(self, before: Mapping[Pair, Seen]) -> tuple[list[Step], list[_Made], Watched]:
        steps: list[Step] = []
        made: list[_Made] = []
        watch = self._watch(before)
        with watch.watching(), self._loaded():
            for number, part in enumerate(self.wanted.parts, 1):
                with self._part(part.title, [str(act) for act in part.acts]) as said:
                    olds = acts.old_files(self.lab, part.acts)
                    made.append(_Made(part, native.read(self.lab, part.nodes), olds))
                    said += self._do(part.acts, "commands")
                    if number < len(self.wanted.parts):
                        settle_soon(watch)
                        steps.append(self._look(part))
                        said.append(summary(steps[-1].seen))
                    if self.wanted.one_by_one:
                        now = native.read(self.lab, part.nodes)
                        said += [
                            f"{n}: {what}: {a} > {b}" for n, what, a, b in native.differences(made[-1].before, now)
                        ]
            with self._part("until nothing more is lost") as said:
                said.append(_settle(watch))
                self._agree(self.after_lab)
        assert watch.result is not None
        return steps, made, watch.result

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        """The streams that were asked for run meanwhile."""
        if self.wanted.load is None:
            yield
            return
        load = Load(self.lab, self.wanted.load, self.seed)
        with load.running():
            yield
        assert load.result is not None
        self.answers += judge.load(load.result, self.wanted.prediction.rates)

    def _watch(self, before: Mapping[Pair, Seen]) -> Watch:
        pairs = judge.addresses(self.was, self.nodes)
        targets = {pair: address for pair, address in pairs.items() if pair in before and before[pair].state == "yes"}
        filesystems = self.lab.site.topology.filesystems
        written = {
            (node, name): self.lab.file(node, f"{filesystems[name].mount_point}/.rehearsal-{node}")
            for name, there in mounted(self.lab).items()
            for node in there
            if node in self.nodes
        }
        return Watch(self.lab, targets, written)

    def _look(self, part: Part) -> Step:
        """Who reaches whom after a part, by the addresses that there are then."""
        predicted = None if part.after is None else Reach(part.after)
        lab = self.lab if part.after is None else Lab(part.after, self.lab.folder)
        reach = predicted or self.was
        found = self._reach(lab, reach)
        # of keys a look at one client of each cluster is enough, and at none where nothing changes them
        told = mounts.read(lab, reach, mounts.firsts(lab, self.nodes)) if self._moves_keys else Mounts()
        return Step(part.title, found, predicted, told, part.refused)

    def _do(self, the_acts: Sequence[acts.Act], question: str) -> Iterator[str]:
        """Do what a part asks for; a command that fails is told, and an administrator goes on with the next one."""
        for command, why in acts.do(self.lab, the_acts):
            fails = self.wanted.change.fails
            due = next((text.partition(" fails: ")[2] for text in fails if f" {command} " in text), "")
            predicted = due and f"fails: {due}"
            self.answers.append(Answer(question, "worse", str(command), "", predicted, why, {command.node: []}))
            yield f"{command.node}: {why}"

    # and back

    def _back(
        self,
        made: Sequence[_Made],
        before: Mapping[Pair, Seen],
        after: Mapping[Pair, Seen],
        set_before: Mapping[str, Native],
        mounted: Mounts,
    ) -> None:
        watch = self._watch({pair: is_ for pair, is_ in before.items() if pair in after and after[pair].state == "yes"})
        with watch.watching():
            if self.wanted.back is not None:
                for part in self.wanted.back:
                    with self._part(f"back, {part.title}", [str(act) for act in part.acts]) as said:
                        said += self._do(part.acts, "back")
            else:
                for one in reversed(made):
                    self._undo(one)
            with self._part("until nothing more is lost, and how all is then") as said:
                said.append(_settle(watch))
                self._agree(self.lab)
                then = self._reach(self.lab, self.was)
                said.append(summary(then))
        assert watch.result is not None
        self.answers += judge.meanwhile(watch.result, then, "on the way back", calm=False)
        left = [*judge.reach(self.wanted.change.before, before, then, self.was)]
        left += judge.mounts(self.lab.site, mounted, mounts.read(self.lab, self.was, self.nodes), {})
        for answer in left:  # a key that is committed is for good: another one is no harm
            turn: Turn = "other" if answer.turn == "other" and answer.question == "files" else "worse"
            self.answers.append(replace(answer, question="back", turn=turn, predicted=""))
        now = native.read(self.lab, set_before)
        for node, what, was, is_ in native.differences(set_before, now):
            self.answers.append(Answer("back", "worse", f"{node}: {what}", was, "", is_, {node: []}))

    def _undo(self, made: _Made) -> None:
        """Take a part back: of commands what brings back what they moved, of files the old ones, and reloads."""
        if not made.old_files:
            for node in reversed(made.part.nodes):
                now = native.read(self.lab, [node])[node]
                lines = native.commands_back(self.lab.site, node, made.before[node], now)
                with self._part(f"back, {made.part.title}", [f"{node}# {line}" for line in lines]) as said:
                    said += self._do([Command(node, line) for line in lines], "back")
            return
        first, then = undoing(made.part)
        typed = [*map(str, first), *(f"{s.node}: the old {s.argv[-1]}" for s in made.old_files), *map(str, then)]
        with self._part(f"back, {made.part.title}", typed) as said:
            said += self._do(first, "back")
            for step in made.old_files:
                step.take(self.lab)
            said += self._do(then, "back")

    @contextmanager
    def _part(self, title: str, typed: Sequence[str] = ()) -> Iterator[list[str]]:
        """What is told of a part is put into the list that this gives."""
        self.say(title)
        watch, said = clock.Watch(), list[str]()
        yield said
        self.done.append(Done(title, round(watch.virtual_s, 3), list(typed), "; ".join(filter(None, said))))


def undoing(part: Part) -> tuple[list[Command], list[Command]]:
    """Of a part with files, the commands before and after the old ones are put back: what came up goes down first."""
    commands = [act for act in part.acts if isinstance(act, Command)]
    ups = [c for c in commands if c.line.startswith("ifup ")]
    downs = [c for c in commands if c.line.startswith("ifdown ")]
    others = [c for c in commands if c not in ups and c not in downs]
    first = [Command(c.node, c.line.replace("ifup", "ifdown", 1)) for c in reversed(ups)]
    return first, [*(Command(c.node, c.line.replace("ifdown", "ifup", 1)) for c in reversed(downs)), *others]


def lab_nodes(lab: Lab) -> list[str]:
    """The nodes of a lab that are up."""
    return [name for name in lab.site.nodes if lab.site.comes_up(name)]


def chosen(change: Change) -> list[str]:
    """The nodes whose pairs are measured: all with an address that are up, or of many two of all that are alike."""
    sites = change.before, change.after
    own = [n for n, node in change.before.nodes.items() if node.interfaces and change.before.comes_up(n)]
    own = [name for name in own if name in change.after.nodes]
    if len(own) <= _MOST_NODES:
        return own
    group = [{name: place for place, names in enumerate(alike(site)) for name in names} for site in sites]
    found: dict[tuple[int | None, ...], list[str]] = {}
    for name in own:
        found.setdefault(tuple(of.get(name) for of in group), []).append(name)
    return [name for names in found.values() for name in names[:2]]


def _settle(watch: Watch, quiet_s: float = _QUIET_S, most_s: float = _SETTLE_S) -> str:
    """Wait until nothing is lost for a while, or for so long that it is lost for good."""
    begun = monotonic()
    quiet_since = begun
    while monotonic() - quiet_since < quiet_s and monotonic() - begun < most_s:
        sleep(0.1)
        if watch.quiet():
            quiet_since = monotonic()
    return f"lost for good: {watch.quiet()}" if watch.quiet() else ""


def settle_soon(watch: Watch) -> None:
    """Wait between two parts until nothing is lost."""
    _settle(watch, _SOON_QUIET_S, _SOON_S)


def summary(found: Mapping[Pair, Seen]) -> str:
    """How many pairs can talk, in a line."""
    states = [is_.state for is_ in found.values()]
    said = f"{states.count('yes')} of {len(states)} pairs can talk"
    return said + (f", of {states.count('stalls')} large packets are lost" if "stalls" in states else "")

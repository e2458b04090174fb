"""One run of scenarios: each is played, and runs/ID has the report and what was typed."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from rich.console import Console

from causeway import interrupts, took
from causeway.folders import MADE_OF
from causeway.lab import clock, dirt
from causeway.lab.evidence import collect
from causeway.lab.lab import RUNS, Lab
from causeway.lab.probes.load import Recorder
from causeway.process import transcript
from causeway.render.drawing.load import load_part
from causeway.render.drawing.page import element
from causeway.report import files
from causeway.report.result import Run, ScenarioResult
from causeway.scenario.runner import Interrupted, Scenario, not_played, play


def play_all(lab: Lab, scenarios: Sequence[Scenario], seed: int, started: datetime, say: Console) -> Run:
    """Play scenarios one after the other and write their report.

    An interrupt ends the run: what is changed is undone, what was played keeps its verdicts, and the rest is skipped,
    with the reason. A lab that could not be restored plays nothing more. BadInput for one that was not before.
    """
    dirt.refuse(lab)
    folder = files.new_folder(RUNS, started, clock.name(), seed)
    name = folder.name
    transcript.to(folder / "transcript.txt")
    watch, lag_before = clock.Watch(), clock.lag_s() if clock.paced() else 0.0
    recorder = Recorder(lab)
    known = RUNS / f"played-{lab.site.name}-{clock.name()}.json"
    repeats = clock.name() == "virtual"  # so what was last time is not looked at (see `Parts`)
    last_s: dict[str, float] = {} if repeats else took.known(known)

    def play_one(scenario: Scenario) -> ScenarioResult:
        if marked := dirt.after(lab):
            return not_played(scenario, "broken", f"the lab was not restored after {marked}")
        last = f" ({last_s[scenario.name]:.0f} s last time)" if scenario.name in last_s else ""
        say.print(f"{scenario.name}: {scenario.title}{last}", markup=False)
        transcript.note(f"# scenario {scenario.name}")
        at_s = recorder.now_s()
        result = play(scenario, lab, seed, lambda why: collect(lab, folder / "evidence" / scenario.name, why))
        for step in result.steps:
            recorder.mark(at_s, f"{scenario.name}, {step.phase}: {step.sentence}")
            at_s += step.virtual_s
        return result

    def told(result: ScenarioResult) -> None:
        say.print(f"{result.name}: {result.verdict} ({result.wall_s:.1f} s) {result.why}", markup=False)

    with recorder.recording():
        results, interrupted = _each(scenarios, play_one, told)
    run = Run(
        id=name,
        lab=lab.site.name,
        lab_host="uml" if clock.is_uml() else "native",
        clock=clock.name(),
        seed=seed,
        started=started.isoformat(timespec="seconds"),
        wall_s=watch.wall_s,
        virtual_s=watch.virtual_s,
        fell_behind_s=clock.lag_s() - lag_before if clock.paced() else None,
        scenarios=results,
        interrupted=interrupted,
        made_of=json.loads(MADE_OF.read_text()) if MADE_OF.exists() else {},
    )
    transcript.to(None)
    with interrupts.held():
        recorder.load.write(folder)
        files.write(run, folder, element(lab.site), load_part(lab.site, recorder.load))
        if not repeats:
            took.keep(known, last_s | run.judged_s)
        say.print(f"report: runs/{name}/report.html", markup=False)
    return run


def _each(
    scenarios: Sequence[Scenario],
    play_one: Callable[[Scenario], ScenarioResult],
    told: Callable[[ScenarioResult], None],
) -> tuple[list[ScenarioResult], bool]:
    """A result for each scenario, and whether an interrupt came before all were played."""
    results: list[ScenarioResult] = []
    try:
        with interrupts.raised():
            for scenario in scenarios:
                results.append(play_one(scenario))
                told(results[-1])
    except Interrupted as ended:
        results.append(ended.result)
        told(ended.result)
    except KeyboardInterrupt:
        pass
    else:
        return results, False
    left = [not_played(scenario, "skipped", "the run was interrupted before") for scenario in scenarios[len(results) :]]
    return results + left, True

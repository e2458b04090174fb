"""A node is reset, and what it had started on others runs on: nobody has told them.

Claim: a job's processes end with the node's own when these are ended properly. When the node is reset they go on for as
long as nothing is sent, also when it is back and answers: its new life knows nothing of the old connections, and theirs
do not ask. Where sshd asks its clients they are gone as soon as it has asked in vain.

Cause: a TCP connection on which nothing passes does not notice that its other end is gone; TCP's own question
(keepalive) comes after two hours.

Source: CITA, "Xe cluster details", Events, 23 March: processes on the first node of a job died with its reset, and left
the rest orphaned, to be killed by hand. That the node is silent for three minutes while it boots is ours.
"""

from causeway.lab.clock import Watch
from causeway.lab.faults import link_silent
from causeway.scenario.cast import Ask, Starter
from causeway.scenario.stage import Made, Stage
from causeway.scenario.words.jobs import end_by_hand, job, running, watchful
from causeway.scenario.words.routes import pings

#: How long a reset takes (seconds): for longer than a kernel sends the ends of closed connections again (tcp(7),
#: tcp_orphan_retries: eight times, doubled from 0.2 s on, 102 s).
RESET_S = 180
#: When it is looked whether processes still run (seconds after the reset).
LATER_S = 600
#: How often sshd asks, how many times in vain, and what its counting may take on top (seconds; sshd_config(5)).
ASK_S, TIMES, SPARE_S = 15, 3, 2


def cast(ask: Ask) -> Starter:
    return ask.starter()


def play(stage: Stage, cast: Starter) -> None:
    node, others = cast.node, cast.others

    def reset() -> Watch:
        """The node's processes are gone, and it cannot say so; it is back after a while."""
        with job(stage, node, others):
            silent = stage.make(link_silent(stage.lab, node, cast.port.device))
            watch = Watch()
        gone.append(silent)
        return watch

    def back() -> None:
        stage.let_pass(RESET_S, f"{node} boots")
        gone.pop().undo()

    gone: list[Made] = []
    stage.defer(lambda: end_by_hand(stage, others), "what is left of jobs")
    with stage.healthy(f"{node}'s job on {len(others)} others ends with its own processes"):
        with job(stage, node, others):
            stage.same("where processes run", others, running(stage, others))
        stage.until("where processes run, ended properly", lambda: running(stage, others), is_=[], within_s=5)

    with stage.perturb(f"{node} is reset while its job runs"):
        since = reset()
        back()

    with stage.judge("it is back, and the others' processes run on"):
        stage.same(f"who answers {node}", others, [other for other in others if pings(stage, node, other)])
        stage.let_pass(LATER_S - since.virtual_s, "nobody sends anything")
        stage.same(f"where processes run, {LATER_S} s after the reset", others, running(stage, others))

    with stage.contrast(f"an sshd that asks its clients each {ASK_S} s ends them"):
        end_by_hand(stage, others)
        stage.make(watchful(stage, others, ASK_S, TIMES))
        since = reset()
        gone_s = ASK_S * (TIMES + 2)
        stage.until("where processes run", lambda: running(stage, others), is_=[], within_s=gone_s, poll_s=1)
        seen = since.virtual_s
        in_time = ASK_S * TIMES <= seen <= ASK_S * (TIMES + 1) + SPARE_S
        stage.holds(f"gone {ASK_S * TIMES} to {ASK_S * (TIMES + 1)} s after the reset", in_time, f"{seen:.0f} s")
        back()

    with stage.restore("a job ends with its starter's processes again"):
        with job(stage, node, others):
            stage.same("where processes run, afterwards", others, running(stage, others))
        stage.until("where processes run, ended", lambda: running(stage, others), is_=[], within_s=5)

"""Limits for logins are not those of jobs: a daemon's children have what the daemon was started with.

Claim: what a node's files of limits allow a login has, and a job that a daemon starts there has not, for the daemon has
been started by boot. When somebody who is logged in starts the daemon anew its jobs have it, until the next boot. With
the limits set at the top of the daemon's script they have it whoever starts it.

Cause: limits are inherited; the files are read at logins (pam_limits), and by nobody else.

Source: CITA, "Xe cluster details", InfiniBand: locked memory in limits.conf, and "/etc/init.d/pbs_mom also needs limits
set for jobs": ulimit at the top of that script. A shell behind a socket stands in for pbs_mom.
"""

from dataclasses import dataclass

from causeway.lab.changes.files import file_changed
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.limits import (
    FILE,
    Limits,
    booted_anew,
    daemon,
    of_job,
    of_login,
    restarted_from_login,
    until_it_listens,
)

#: The notes' own: 1 GiB of locked memory, and as many files as their script allows.
RAISED = Limits(1048576, 32768)


@dataclass(frozen=True)
class Cast:
    """A host with a daemon for jobs, and who gives them to it and logs in there."""

    client: str
    node: str


def cast(ask: Ask) -> Cast:
    client, node, *_ = ask.colleagues()
    return Cast(client, node)


def play(stage: Stage, cast: Cast) -> None:
    client, node = cast.client, cast.node

    def login() -> Limits:
        return of_login(stage, client, node)

    def job() -> Limits:
        until_it_listens(stage, node)
        return of_job(stage, client, node)

    with stage.arrange(f"{node} has a daemon that runs jobs, started as boot does"):
        stage.make(daemon(stage, node))

    with stage.healthy("a job may take what a login may"):
        built = login()
        stage.same("a job's limits", built, job())
        stage.holds("less than what jobs need", built.locked_kib < RAISED.locked_kib, built)

    with stage.perturb(f"{node}'s files of limits allow more"):
        raised = stage.make(file_changed(stage.lab, node, FILE, RAISED.for_logins()))

    with stage.judge("a login has it, a job has not; nor has one after the next boot"):
        stage.same("a login's limits, raised", RAISED, login())
        stage.same("a job's limits, raised for logins", built, job())
        booted_anew(stage, node)
        stage.same("a job's limits, daemon started anew as boot does", built, job())

    with stage.judge("when somebody who is logged in starts the daemon anew a job has it, until the next boot"):
        restarted_from_login(stage, client, node)
        stage.same("a job's limits, daemon started from a login", RAISED, job())
        booted_anew(stage, node)
        stage.same("a job's limits, after the next boot", built, job())

    with stage.contrast("with the limits at the top of the daemon's script a job has it, started as boot does"):
        script = stage.make(daemon(stage, node, RAISED.in_script()))
        stage.same("a job's limits, set in the script", RAISED, job())
        script.undo()
        raised.undo()

    with stage.restore("nothing listens any more, and a login has what it had"):
        stage.same("a login's limits, afterwards", built, login())

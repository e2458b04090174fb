"""What processes may take of a node, for scenarios: of a login, and of a job that a daemon there starts."""

from dataclasses import dataclass

from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import put_back, write
from causeway.process import Result
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import called

#: Where the daemon listens, and the script that starts it.
_PORT, _SCRIPT = 15002, "/etc/init.d/jobd"
#: It gives each job, which is what comes on a connection, to a shell. `stop` says nothing where it does not run.
_TEXT = """#!/bin/sh
{top}case "$1" in
start) busybox nc -ll -p {port} -e /bin/sh </dev/null >/dev/null 2>&1 & ;;
stop) pkill -f -x 'busybox nc -ll -p {port} -e /bin/sh'; true ;;
esac
"""
#: As the node's first process starts what boot starts: with its own limits.
_BOOT = """
ulimit -n "$(awk '/^Max open files/ {print $4}' /proc/1/limits)"
ulimit -l "$(awk '/^Max locked memory/ {print $4 / 1024}' /proc/1/limits)"
sh "$0" stop && sh "$0" start
"""
#: Where logins' limits stand, one file for each who sets some (limits.conf(5)).
FILE = "/etc/security/limits.d/jobs.conf"
_SHOW = "ulimit -l; ulimit -n"
_STARTS_S = 5


@dataclass(frozen=True)
class Limits:
    """KiB of memory that may be locked, and files that may be open."""

    locked_kib: int
    files: int

    def __str__(self) -> str:
        return f"{self.locked_kib} KiB locked, {self.files} files"

    def for_logins(self) -> str:
        """What a file of limits says of them: `*` is not root."""
        pairs = {"memlock": self.locked_kib, "nofile": self.files}
        return "".join(f"{who} - {what} {value}\n" for who in ("*", "root") for what, value in pairs.items())

    def in_script(self) -> str:
        return f"ulimit -l {self.locked_kib}\nulimit -n {self.files}\n"


def of_login(stage: Stage, client: str, node: str) -> Limits:
    """Root's who logs in."""
    return _read(stage.lab.on(client, "ssh", "-n", "-o", "BatchMode=yes", called(stage.site, node), _SHOW))


def of_job(stage: Stage, client: str, node: str) -> Limits:
    """A job's that a client gives to a node's daemon."""
    send = f"echo '{_SHOW}' | busybox nc -w 5 {called(stage.site, node)} {_PORT}"
    return _read(stage.lab.on(client, "sh", "-c", send))


def daemon(stage: Stage, node: str, top: str = "") -> Change:
    """A node has a daemon that runs what it is sent, and a script that starts it as boot does; with that at its top."""
    text = _TEXT.format(top=top, port=_PORT)
    start = Step(node, ("sh", "-c", _BOOT, _SCRIPT))
    title = f"{node} runs a job daemon" + (", whose script sets limits" if top else "")
    before = put_back(stage.lab, node, _SCRIPT)
    # what was there before runs again, or nothing does
    again = Step(
        node, ("sh", "-c", f'if [ -e "$0" ]; then {_BOOT} else pkill -f "[n]c -ll -p {_PORT}"; true; fi', _SCRIPT)
    )
    return Change(title, (write(node, _SCRIPT, text), start), (before, again))


def booted_anew(stage: Stage, node: str) -> None:
    """The daemon is started as boot does."""
    stage.lab.on(node, "sh", "-c", _BOOT, _SCRIPT).must()


def restarted_from_login(stage: Stage, client: str, node: str) -> None:
    """Somebody logs in and starts it anew."""
    words = f"sh {_SCRIPT} stop; sh {_SCRIPT} start"
    stage.lab.on(client, "ssh", "-n", "-o", "BatchMode=yes", called(stage.site, node), words).must()


def until_it_listens(stage: Stage, node: str) -> None:
    listens = f":{_PORT} "
    stage.until("the daemon listens", lambda: listens in stage.lab.on(node, "ss", "-tln").must(), is_=True, within_s=5)


def _read(said: Result) -> Limits:
    locked, files = said.must().split()
    return Limits(int(locked), int(files))

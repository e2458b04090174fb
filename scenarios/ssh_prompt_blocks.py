"""One question that nobody answers stops a whole script.

Claim: when a host's key is missing, ssh on a terminal asks and waits for as long as nobody answers; told
that nobody will (BatchMode), it fails at once and says why. With the key in known_hosts both go through.

Cause: ssh asks about an unknown host on the terminal, not on standard input: a script's </dev/null is no help.

Source: Redpaper, "Making the SSH daemons' public keys known": "this interactive prompt must be prevented".
"""

import re
from dataclasses import dataclass

from causeway.lab.changes.files import replaced
from causeway.lab.clock import Watch
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import ASKED, IN, KNOWN, NOT_KNOWN, THROUGH, called, login, login_on_terminal


@dataclass(frozen=True)
class Cast:
    """Where the script runs, and the host that it goes to."""

    client: str
    host: str


def cast(ask: Ask) -> Cast:
    return Cast(*ask.colleagues()[:2])


def play(stage: Stage, cast: Cast) -> None:
    lab, client, host = stage.lab, cast.client, cast.host

    with stage.healthy(f"{client} knows {host}'s key, and nobody is asked"):
        stage.same("ssh on a terminal", THROUGH, login_on_terminal(stage, client, host))
        stage.same("ssh in batch mode", IN, login(stage, client, host))

    with stage.perturb(f"{host}'s line is missing in {client}'s known_hosts"):
        name = re.escape(called(stage.site, host))
        missing = stage.make(replaced(lab, client, KNOWN, rf"^(\S+,)?{name}(,\S+)? .*\n", ""))

    with stage.judge("on a terminal it hangs; in batch mode it fails within a second"):
        stage.same("ssh on a terminal, key missing", ASKED, login_on_terminal(stage, client, host))
        watch = Watch()
        stage.same("ssh in batch mode, key missing", NOT_KNOWN, login(stage, client, host))
        stage.holds("noticed within a second", watch.virtual_s < 1, f"{watch.virtual_s:.2f} s")

    with stage.contrast("with the key in its place both go through"):
        missing.undo()
        stage.same("ssh on a terminal, key there", THROUGH, login_on_terminal(stage, client, host))
        stage.same("ssh in batch mode, key there", IN, login(stage, client, host))

    with stage.restore("nobody is asked"):
        stage.same("ssh on a terminal, afterwards", THROUGH, login_on_terminal(stage, client, host))

"""One question that nobody answers stops a whole script.

Claim: when a host's key is missing, ssh on a terminal asks and waits for as long as nobody answers; told
that nobody will (BatchMode), it fails at once and says why. With the key in known_hosts both go through.

Cause: ssh asks about an unknown host on the terminal, not on standard input: a script's </dev/null is no help.

Source: Redpaper, "Making the SSH daemons' public keys known": "this interactive prompt must be prevented".
"""

from causeway.lab import blocks
from causeway.lab.clock import Watch
from causeway.lab.faults import file_changed
from causeway.scenario.ssh import IN, NOT_KNOWN, login
from causeway.scenario.stage import Stage

KNOWN = "/etc/ssh/ssh_known_hosts"
#: How long the script waits for an answer here; it would wait for ever.
PATIENCE_S = 30
DONE, ASKED = "went through", f"asked, and still waited after {PATIENCE_S} s"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, blocks.service_node(stage.lab)

    def on_a_terminal() -> str:
        """The check that both halves share: a script's `ssh FEN true`, started on somebody's terminal."""
        step = f"timeout --foreground {PATIENCE_S} ssh FEN true </dev/null"
        # a terminal with somebody at it who types nothing
        done = lab.on(sn, "sh", "-c", f"sleep {PATIENCE_S + 1} | script -q -e -c '{step}' /dev/null")
        asked = "Are you sure you want to continue connecting" in done.stdout
        return DONE if done.rc == 0 else ASKED if asked and done.rc == 124 else f"{done.rc}: {done.stdout}"

    with stage.healthy("FEN's key is known, and nobody is asked"):
        stage.compare("ssh on a terminal", DONE, on_a_terminal(), "", 0)
        stage.compare("ssh in batch mode", IN, login(stage, sn, "FEN"), "", 0)

    with stage.perturb("FEN's line is missing in SN's known_hosts"):
        lines = lab.read(sn, KNOWN).splitlines(keepends=True)
        put_back = file_changed(lab, sn, KNOWN, "".join(line for line in lines if not line.startswith("FEN-b,")))
        stage.defer(put_back)

    with stage.judge("on a terminal it hangs; in batch mode it fails within a second"):
        stage.compare("ssh on a terminal, key missing", ASKED, on_a_terminal(), "", 0)
        watch = Watch()
        stage.compare("ssh in batch mode, key missing", NOT_KNOWN, login(stage, sn, "FEN"), "", 0)
        stage.compare("noticed within a second", True, watch.virtual_s < 1, "", 0)

    with stage.contrast("with the key in its place both go through"):
        put_back()
        stage.compare("ssh on a terminal, key there", DONE, on_a_terminal(), "", 0)
        stage.compare("ssh in batch mode, key there", IN, login(stage, sn, "FEN"), "", 0)

    with stage.restore("nobody is asked"):
        stage.compare("ssh on a terminal, afterwards", DONE, on_a_terminal(), "", 0)

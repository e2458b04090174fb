"""`causeway shell` is a real terminal on a node: typed at through a pseudo-terminal, as a person would."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from conftest import CAUSEWAY, Tool

#: How long a person waits for a machine that is busy with other things, in seconds of wall time.
PATIENCE_S = 180


class Typist:
    """A person at a terminal in which a command runs."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self.screen, slave = pty.openpty()
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str, timeout_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come; the screen: {self.seen!r}"
            if select.select([self.screen], [], [], left)[0]:
                self.seen += os.read(self.screen, 4096).decode(errors="replace")
        self.seen = self.seen.split(text, 1)[1]

    def type(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def ask(self, line: str, answer: str) -> None:
        """Type a line until it is answered: what is typed at the prompt of a shell that is being ended goes with it."""
        self._insist(line, lambda: self.wait_for(answer, 5))

    def leave(self, line: str, rc: int) -> None:
        """Type a line until the shell has ended with this code.

        Now and then what is typed stays in the lab's serial line until the next key (2 of 104 shells, busy machine).
        """
        self._insist(line, lambda: self.process.wait(timeout=5))
        assert self.process.returncode == rc

    def _insist(self, line: str, wait: Callable[[], object]) -> None:
        begun = time.monotonic()
        while True:
            with suppress(OSError):  # it has ended just now
                self.type(f"{line}\r")
            try:
                wait()
                break
            except (AssertionError, subprocess.TimeoutExpired):
                if time.monotonic() > begun + PATIENCE_S:
                    raise


def test_a_shell_on_a_node_has_a_prompt_job_control_and_an_exit_code(lab: Tool) -> None:
    typist = Typist([str(CAUSEWAY), "shell", "nsd01"], lab.env)
    typist.wait_for("nsd01")
    typist.type("tty; echo $((40 + 2))\r")
    typist.wait_for("/dev/pts/")
    typist.wait_for("42")
    typist.type("sleep 1000\r")
    time.sleep(1)
    typist.type("\x1a")  # Ctrl-Z
    typist.wait_for("Stopped")
    typist.type("kill %1; wait; echo gone\r")
    typist.wait_for("gone")
    typist.leave("exit 7", 7)


def test_a_shell_can_be_opened_again_and_again(lab: Tool) -> None:
    for _ in range(6):  # more than there are serial lines
        typist = Typist([str(CAUSEWAY), "shell", "SN"], lab.env)
        typist.wait_for("SN")
        typist.leave("exit", 0)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_terminal_window_that_is_closed_harms_no_later_shell(lab: Tool, number: int) -> None:
    for _ in range(5):  # more than there are serial lines
        typist = Typist([str(CAUSEWAY), "shell", "SN"], lab.env)
        typist.wait_for("SN")
        typist.type("sleep 1000\r")
        os.killpg(typist.process.pid, number)
        typist.process.wait(timeout=PATIENCE_S)
    typist = Typist([str(CAUSEWAY), "shell", "SN"], lab.env)
    typist.wait_for("SN")
    typist.ask("echo $((40 + 2))", "42")
    typist.leave("exit 3", 3)


def test_a_shell_on_a_booted_io_node_is_on_its_own_system(lab: Tool) -> None:
    typist = Typist([str(CAUSEWAY), "shell", "R00-M0-NC-3"], lab.env)
    typist.wait_for("$ ")
    typist.type("hostname; tty; mount | grep -c 'SN\\|10.2.64.220'\r")
    typist.wait_for("\r\nR00-M0-NC-3")
    typist.wait_for("/dev/pts/")
    typist.wait_for("\r\n5")
    typist.type("sleep 1000\r")
    time.sleep(1)
    typist.type("\x03")  # Ctrl-C
    typist.leave("exit 7", 7)

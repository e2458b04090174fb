"""The one module that starts processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from causeway.process import join
from causeway.wait import until

REPO = Path(__file__).resolve().parents[2]


def test_a_followed_command_ends_when_its_follower_is_killed(tmp_path: Path) -> None:
    follower = subprocess.Popen(
        [
            sys.executable, "-c",
            "from pathlib import Path; from causeway.process import follow;"
            "follow(['sh', '-c', 'sleep 1000 & echo $!; wait'], lambda s: print(s, flush=True),"
            f" log=Path({str(tmp_path / 'log')!r}), env={{}})",
        ],
        stdout=subprocess.PIPE, text=True, cwd=REPO,
    )  # fmt: skip
    assert follower.stdout is not None
    sleeper = int(follower.stdout.readline())
    follower.kill()
    follower.wait()
    until("the sleeper is gone", lambda: "there" if runs(sleeper) else "", deadline_s=10, poll_s=0.01)


@pytest.mark.parametrize("rc", [0, 5])
def test_a_joined_command_has_this_ones_output_and_its_own_environment(
    rc: int, capfd: pytest.CaptureFixture[str]
) -> None:
    said = f"import os; print(os.environ['WHO']); raise SystemExit({rc})"
    assert join([sys.executable, "-c", said], {"WHO": "me"}) == rc
    assert capfd.readouterr().out == "me\n"


def test_an_interrupt_is_the_joined_commands_to_heed() -> None:
    """It has all the time that it takes; who waits for it is not ended."""
    heeds = (
        "import os, signal, time\ntry:\n    os.kill(os.getppid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)"
    )
    heeds += "\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    time.sleep(0.5); raise SystemExit(9)"
    assert join([sys.executable, "-c", heeds], {}) == 9


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie, which in a container may have nobody to reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False

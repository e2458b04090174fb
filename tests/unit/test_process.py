"""The one module that starts processes."""

import subprocess
import sys
from pathlib import Path

from causeway.lab.wait import until

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


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie, which in a container may have nobody to reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False

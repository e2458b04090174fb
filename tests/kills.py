"""Kills Causeway at random moments, and looks that `down` then succeeds, leaves nothing, and the next `up` works.

    python -m tests.kills                  200 kills, of site `small`, seed 1; about 80 minutes
    python -m tests.kills --count 12 --seed 7

A round is ten kills: one of `build`, in a cache that lacks something; one of `up`, whose remains `down` clears; one of
`up` of the template that the next one leaves; six of what people do in the lab that comes up then (`run`, `shell`,
`exec`, `fault`, `checkpoint`, `back`), after each of which the lab goes on; and one of `down`, or of the lab's launcher
or kernel. Each round says what it killed, and when. Exit codes: 0 all is well, 1 it is not.
"""

import argparse
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from causeway import folders
from causeway.hosts import artefacts

REPO = Path(__file__).resolve().parents[1]
CAUSEWAY = REPO / "bin" / "causeway"
SITE, NODE = "small", "quay1"
#: What is killed, in the words that are typed, and within how many seconds: a little longer than it takes on two cores.
UP = (("up", SITE, "--quiet"), 60.0)
IN_THE_LAB = (
    (("run", "single_stream"), 20.0),
    (("shell", NODE), 6.0),
    (("exec", NODE, "--", "sleep", "3"), 6.0),
    (("fault", "inject", "link_down", f"node={NODE}", "device=eth2"), 6.0),
)
MOMENT = "sound"
MOMENTS = ((("back", MOMENT), 4.0), (("checkpoint", "another"), 4.0))
UP_AGAIN = (("up", SITE, "--quiet"), 6.0)
BUILD = (("build",), 30.0)
DOWN = (("down",), 6.0)
#: How long a lab may take to end after what was killed, in seconds.
PATIENCE_S = 60


def processes(state: Path) -> list[str]:
    """Number and command of those that name a state folder in their command line, or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(state) in command or (entry / "cwd").resolve().is_relative_to(state):
                found.append(f"{entry.name} {command[:200]}")
    return found


class Wrong(Exception):
    """Something was left behind, or a command failed that must not."""


class Victim:
    """One who kills the tool in folders of its own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._state = folder / "state"
        self._random = random.Random(seed)
        self._env = os.environ | {"CAUSEWAY_STATE": str(self._state), "CAUSEWAY_RUNS": str(folder / "runs")}
        # beside the cache, as it has links to what is there; and what builds have for temporary files
        self._cache, self._temporary = folders.cache().with_name("causeway-kills"), folder / "tmp"
        self.kills = 0

    def round(self) -> None:
        self._kill_a_build()
        self._kill(*UP)
        self._nothing_is_left()
        self._must("up", SITE, "--quiet")
        self._must("down")
        self._kill(*UP_AGAIN)
        self._must("down")
        self._must("up", SITE, "--quiet")
        for words, within_s in IN_THE_LAB:
            self._kill(words, within_s)
            self._must("fault", "clear")
            self._must("exec", NODE, "--", "true")
        self._comes("checkpoint", MOMENT)
        for words, within_s in MOMENTS:
            self._kill(words, within_s)
            self._comes("exec", NODE, "--", "true")
        self._random.choice(
            [lambda: self._kill(*DOWN), lambda: self._kill_one("launcher"), lambda: self._kill_one("pid")]
        )()
        self._nothing_is_left()

    def end(self) -> None:
        self._must("down")
        self._must("templates", "--drop", "all")
        shutil.rmtree(self._cache, ignore_errors=True)

    def _kill_a_build(self) -> None:
        """Of one artefact, in a cache that has all others; `down` clears what is left of it."""
        shutil.rmtree(self._cache, ignore_errors=True)
        under_way = shutil.ignore_patterns(".*.building")  # a build of somebody else's
        shutil.copytree(folders.cache(), self._cache, copy_function=os.link, symlinks=True, ignore=under_way)
        lacks = self._random.choice(artefacts.ALL)
        shutil.rmtree(self._cache / lacks.folder.name)
        self._temporary.mkdir(exist_ok=True)
        mine = {"CAUSEWAY_CACHE": str(self._cache), "TMPDIR": str(self._temporary)}
        self._kill(*BUILD, what=f"of {lacks.name}", env=mine)
        self._gone(lambda: [*processes(self._temporary), *processes(self._cache)])
        self._must("down", env=mine)
        self._gone(lambda: [*map(str, self._temporary.iterdir()), *map(str, self._cache.glob(".*.building"))])

    def _kill(
        self, words: tuple[str, ...], within_s: float, what: str = "", env: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Start it on a terminal; after a while kill it, alone or with all that it has started in its group."""
        after_s = self._random.uniform(0, within_s)
        master, slave = pty.openpty()
        all_env = {**self._env, **env}
        running = subprocess.Popen(
            [str(CAUSEWAY), *words], env=all_env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        kill: Callable[[int, int], None] = self._random.choice([os.kill, os.killpg])
        with suppress(subprocess.TimeoutExpired):
            running.wait(after_s)
        with suppress(ProcessLookupError):
            kill(running.pid, signal.SIGKILL)
        running.wait()
        os.close(master)
        self._said(" ".join([*words, *([what] if what else []), f"after {after_s:.2f} s, by {kill.__name__}"]))

    def _kill_one(self, file: str) -> None:
        """Kill the process that the lab's folder names."""
        os.kill(int((self._state / SITE / file).read_text()), signal.SIGKILL)
        self._said(f"the lab's {file}")

    def _comes(self, *words: str) -> None:
        """What the launcher, or a command in the lab, was at as whoever asked was killed comes to its end.

        Till then it may cut others off.
        """
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self._must(*words)
            except Wrong:
                if time.monotonic() > deadline:
                    raise

    def _said(self, what: str) -> None:
        self.kills += 1
        print(f"{self.kills}: {what}", flush=True)

    def _must(self, *words: str, env: Mapping[str, str] = MappingProxyType({})) -> None:
        all_env = {**self._env, **env}
        done = subprocess.run([str(CAUSEWAY), *words], env=all_env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Wrong(f"`{' '.join(words)}` ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def _nothing_is_left(self) -> None:
        """But for a template, if one has come up, which `down` leaves alone."""
        self._must("down")
        self._must("templates", "--drop", "all")
        self._gone(lambda: [*processes(self._state), *self._files()])

    def _gone(self, left: Callable[[], list[str]]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while there := left():
            if time.monotonic() > deadline:
                raise Wrong(f"left behind: {'; '.join(there)}")
            time.sleep(0.1)

    def _files(self) -> list[str]:
        """Files of labs, memory folders, and mounts of ours."""
        found = [str(file) for file in self._state.iterdir()] if self._state.is_dir() else []
        found += [line for line in Path("/proc/mounts").read_text().splitlines() if str(self._state) in line]
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=200, help="how many kills, at least")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="causeway-kills-") as folder:
        victim = Victim(Path(folder), given.seed)
        try:
            while victim.kills < given.count:
                victim.round()
        except Wrong as wrong:
            print(wrong)
            sys.exit(1)
        finally:
            victim.end()
    print(f"{victim.kills} kills, and nothing was left behind")


if __name__ == "__main__":
    main()

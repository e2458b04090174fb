"""The worked changes: what each rehearsal must end with, and with which words it is played.

    python -m tests.sites.worked small/jumbo.txt     one
    python -m tests.sites.worked steps               one that is made with --stay: each step is gone back to
    python -m tests.sites.worked nightly             all that can be played, and steps

Each is kept in runs/sites/worked-CHANGE.json. Exit codes: 0 all are as they must be, 1 they are not.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.sites.played import KEPT, REPO, TIMEOUT_S
from tests.sites.rehearsed import command, tell, wrong


@dataclass(frozen=True)
class Worked:
    """The exit codes of its prediction and of its play, 2 where nobody can play it; words of the command line.

    `back` are the commands of a way back that nobody but its administrator knows.
    """

    predicted: int
    played: int
    words: tuple[str, ...] = ()
    back: str = ""


#: The key that is committed stays; the owner of the filesystems is told.
TOLD = """\
SN:/var/mc/ssl/id_rsa.pub > nsd01:/tmp/JUBL.pub
nsd01# mcauth update JUBL.site.example -k /tmp/JUBL.pub
"""
WORKED = {
    "small/layer2.txt": Worked(1, 1),
    "small/jumbo.txt": Worked(0, 0),
    "small/jumbo.yaml": Worked(0, 0),
    "small/jumbo-wrong.txt": Worked(1, 1),
    "small/switch-policy.txt": Worked(0, 0, ("--under-load",)),
    "small/no-way.txt": Worked(1, 1),
    "small/no-way-back.txt": Worked(1, 1),
    "small/by-the-lock.txt": Worked(1, 1),
    "small/third-quay.yaml": Worked(0, 2),
    "jubl/fifth-server.yaml": Worked(0, 2),
    "jubl/layer3+4.txt": Worked(1, 1),
    "jubl/keys.txt": Worked(0, 0),
    "jubl/keys-forgotten.txt": Worked(1, 1, back=TOLD),
    "jubl/router.txt": Worked(1, 1),
}


def file_of(name: str) -> Path:
    """The file of a worked change, SITE/FILE."""
    site, _, change = name.partition("/")
    return REPO / "topologies" / site / "changes" / change


def play(name: str, folder: Path, env: Mapping[str, str]) -> list[str]:
    """Play one, keep what came of it, and say what is wrong."""
    due, site = WORKED[name], name.partition("/")[0]
    words = list(due.words)
    if due.back:
        folder.mkdir(parents=True, exist_ok=True)
        back = folder / f"back-{file_of(name).name}"
        back.write_text(due.back)
        words += ["--back", str(back)]
    done = command(site, file_of(name), env, *words)
    if done.returncode != due.played:
        return [f"it ended with {done.returncode}, and {due.played} is due: {done.stderr[-2000:]}{done.stdout[-2000:]}"]
    if due.played == 2:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"worked-{file_of(name).name}.json").write_text(done.stdout)
    return wrong(json.loads(done.stdout))


#: A change of small whose only line takes a route, by which it is seen at which step the lab is.
STEPPED = ("small/no-way-back.txt", "lark", "10.30.0.0/24")


def steps(env: Mapping[str, str]) -> list[str]:
    """Make a change with --stay, go back to each of its steps, and say what is not as it was then."""

    def causeway(*words: str) -> "subprocess.CompletedProcess[str]":
        argv = [str(REPO / "bin" / "causeway"), *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=dict(env))

    name, node, route = STEPPED
    site = name.partition("/")[0]
    try:
        made = causeway("rehearse", site, "--change", str(file_of(name)), "--stay")
        if made.returncode:
            return [f"--stay ended with {made.returncode}: {made.stderr[-2000:]}"]
        found = []
        for step, there in (("step-0", True), ("step-1", False), ("step-0", True)):
            back = causeway("back", step, "--lab", site)
            routes = causeway("exec", "--lab", site, node, "--", "ip", "route")
            if back.returncode or routes.returncode or (route in routes.stdout) != there:
                found.append(f"{step}: {back.stderr}{routes.stderr}{node} has {routes.stdout}")
        return found
    finally:
        causeway("down", site)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("change", help="SITE/FILE of topologies/*/changes, steps, or nightly")
    given = parser.parse_args()
    wanted = [*WORKED, "steps"] if given.change == "nightly" else [given.change]
    each = ((name, steps(os.environ) if name == "steps" else play(name, KEPT, os.environ)) for name in wanted)
    again = "bin/causeway python -m tests.sites.worked"
    sys.exit(tell((f"{name}: {len(lines)} wrong", lines, f"{again} {name}") for name, lines in each))


if __name__ == "__main__":
    main()

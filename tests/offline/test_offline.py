"""A machine without a network is made ready by a bundle: an ordinary user's fresh clone, up to a lab that is up; and to
the job that runs scenarios on a forge, with a bundle as its cache (docs/ci.md).

Takes some 2 GB of /tmp, and a few minutes (make nightly).
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.forge import KINDS, scripts
from tests.pages import files

REPO = Path(__file__).resolve().parents[2]
#: nobody, as every Debian has him.
USER = "65534"


class Machine:
    """A user without a network, with a home of his own and a clone of what is committed here."""

    def __init__(self, folder: Path) -> None:
        self.home, self.clone = folder / "home", folder / "home" / "causeway"
        self.home.mkdir()
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(REPO), str(self.clone)], check=True)
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(self.home)], check=True)

    def __call__(self, argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        alone = ["unshare", "--net", "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        return subprocess.run([*alone, *argv], env=env, cwd=self.clone, capture_output=True, text=True, timeout=1800)


@pytest.fixture
def machine() -> Iterator[Machine]:
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("this takes away the network and becomes another user, which only root can")
    folder = Path(mkdtemp(prefix="causeway-offline-"))  # pytest's own are for its user alone
    folder.chmod(0o755)
    found = Machine(folder)
    yield found
    found(["bin/causeway", "down"])
    found(["bin/causeway", "templates", "--drop", "all"])
    shutil.rmtree(folder)


def test_from_a_fresh_clone_to_a_lab_without_a_network(machine: Machine) -> None:
    bundle = machine.home.parent / "bundle"
    subprocess.run([REPO / "bin" / "causeway", "bundle", bundle], check=True)
    bundle.chmod(0o644)
    assert machine(["cat", "/proc/net/route"]).stdout.splitlines()[1:] == []  # no route: there is no network
    done = machine(["bin/causeway", "unbundle", str(bundle)])
    assert done.returncode == 0, done.stderr
    assert machine(["bin/causeway", "doctor"]).returncode == 0
    up = machine(["bin/causeway", "up", "small", "--quiet"])
    assert up.returncode == 0, up.stderr
    assert "building" not in up.stderr
    said = machine(["bin/causeway", "exec", "quay1", "--", "ping", "-c", "1", "lark"])
    assert said.returncode == 0 and "1 received" in said.stdout, said
    assert machine(["bin/causeway", "down"]).returncode == 0

    # the job of a forge, in the same clone: its bundle, its script, and a site of two hosts
    shutil.copy(bundle, machine.clone / "causeway.bundle")
    (machine.clone / "site.yaml").write_text(dict(files("writing.md"))["mine/site.yaml"])
    for kind in KINDS:
        for script in scripts(kind, "scenarios"):
            done = machine([*kind.shell, script])
            assert done.returncode == 0, (kind.file, done.stdout[-3000:], done.stderr[-3000:])
            assert "building" not in done.stderr
    assert len(list((machine.clone / "runs").glob("2*/junit.xml"))) == len(KINDS)

"""Where Causeway keeps things: places that mean the same from every folder, and that are its user's own."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from causeway import folders
from causeway.errors import BadInput
from causeway.folders import REPO
from causeway.hosts import artefacts, host, needs
from causeway.hosts.guests import make_folder


@pytest.mark.parametrize("name", ["cache", "state", "runs"])
def test_a_place_that_is_named_from_here_is_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"CAUSEWAY_{name.upper()}", "mine")
    assert getattr(folders, name)() == tmp_path / "mine"
    monkeypatch.setenv(f"CAUSEWAY_{name.upper()}", "/elsewhere/mine")
    assert getattr(folders, name)() == Path("/elsewhere/mine")


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "a,b", "a\\b", "a\nb"])
def test_a_path_that_says_more_than_a_path_is_refused_before_anything_is_built_or_started(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artefacts, "missing", list)
    monkeypatch.setattr(artefacts, "are_used", lambda: None)
    host.ensure_images(print)
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / name))
    assert not needs.paths().found
    with pytest.raises(BadInput, match=r"(?s)paths: a lab host cannot use .*; use other folders"):
        host.ensure_images(print)


#: A Python that makes an environment in which every program does nothing.
_PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit 0
mkdir -p "$3/bin"
printf '#!/bin/sh\\n' >"$3/bin/pip"
cp "$3/bin/pip" "$3/bin/python"
chmod +x "$3/bin/pip" "$3/bin/python"
"""


@pytest.mark.parametrize(("mode", "owner", "rc"), [(0o755, None, 0), (0o777, None, 2), (0o755, 65534, 2)])
def test_a_cache_that_others_may_write_is_not_trusted(mode: int, owner: int | None, rc: int, tmp_path: Path) -> None:
    """Its Python is the first thing that is run."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    if owner is not None:
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(cache, owner, -1)
    python = tmp_path / "bin" / "python3.13"
    python.parent.mkdir()
    python.write_text(_PYTHON)
    python.chmod(0o755)
    env = {"PATH": f"{python.parent}:/usr/bin:/bin", "CAUSEWAY_CACHE": str(cache)}
    done = subprocess.run([REPO / "bin/causeway", "--help"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == rc, done.stderr
    assert ("belongs to somebody else, or anybody may write there" in done.stderr) == (rc == 2)
    assert bool(list(cache.glob("python-*"))) == (rc == 0)


def test_a_labs_folder_is_its_owners_alone(tmp_path: Path) -> None:
    """Its disk has the private keys of all its nodes."""
    before = os.umask(0)
    try:
        make_folder(tmp_path / "templates" / "small" / "guests" / "1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "templates" / "small" / "guests" / "1").stat().st_mode) == 0o700

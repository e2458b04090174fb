"""What several tests of the mc commands need: a cluster of this machine alone, its /var/mc in a temporary folder."""

import os
import shlex
from pathlib import Path

import pytest

from mc import config as configuration
from mc import fstab, keys, native
from mc.config import Config, save
from mc.main import main
from tests.unit.mc_node import HERE, Does, Said, configured, lay_out


@pytest.fixture
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node's /var/mc: of no cluster yet."""
    folder = tmp_path / "var" / "mc"
    lay_out(folder)
    monkeypatch.setattr(configuration, "VAR", folder)
    monkeypatch.setattr(configuration, "LOCK", tmp_path / "run" / "mc.lock")
    monkeypatch.setattr(fstab, "FILE", tmp_path / "fstab")
    monkeypatch.setattr(native, "verbose", False)
    monkeypatch.setattr(native, "_shell", "")
    monkeypatch.setattr(native, "_copy", "")
    return folder


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of public keys: of cluster green.example, the same with a second key, and of red.example."""
    folder = tmp_path_factory.mktemp("others")
    files = {}
    for name, cluster in {"green": "green", "two": "green", "red": "red"}.items():
        (folder / cluster).mkdir(exist_ok=True)
        keys.generate(folder / cluster, f"{cluster}.example")
        files[name] = str(folder / f"{name}.pub")
        Path(files[name]).write_text((folder / cluster / "id_rsa.pub").read_text())
    return files


@pytest.fixture
def cluster(var: Path) -> Config:
    """The cluster blue.example of this machine alone, without keys."""
    save(configured("blue.example", "0123456789abcdef", HERE.name, nodes=[HERE]), var)
    return configuration.load()


@pytest.fixture
def does(var: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Does:
    """Does a command as root would type it."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def do(line: str) -> Said:
        assert var == configuration.VAR, "this machine's own /var/mc is no test's business"
        monkeypatch.setattr("sys.argv", shlex.split(line))
        capsys.readouterr()
        rc = 0
        try:
            main()
        except SystemExit as ended:
            rc = int(str(ended.code))
        return Said(rc, *capsys.readouterr())

    return do

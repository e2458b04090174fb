"""Jobs of fio: all begin at one moment, and one that is late is said; what is made of what they print."""

import os
from pathlib import Path

import pytest

from causeway.errors import LabBroken
from causeway.lab.probes import fio
from causeway.lab.probes.fio import Job
from tests.unit.here import here

JOBS = [Job(f"c{n}", f"/work/io.c{n}", 0, 3) for n in range(4)]
#: Stands in for fio: notes when it began, and says that it did so many bytes in so many milliseconds, the last one
#: after half a second in which it looked for its file.
FIO = """#!/bin/sh
cut -d' ' -f1 /proc/uptime >>{began}
case $* in *io.c3*) at=1500 ;; *) at=1000 ;; esac
echo 'what fio says first
{{"jobs": [{{"error": {error}, "job_start": '$at', "job_runtime": 1500, "write": {{"io_bytes": {size}}}}}]}}'
"""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fio, "_STARTED_S", 0.4)


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *, error: int = 0, size: int = 3 << 20) -> Path:
    program, began = folder / "fio", folder / "began"
    program.write_text(FIO.format(began=began, error=error, size=size))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return began


def test_all_begin_at_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = stand_in(tmp_path, monkeypatch)
    before = float(Path("/proc/uptime").read_text().split()[0])
    done = fio.play(here(tmp_path), JOBS, "write")
    moments = [float(line) for line in began.read_text().split()]
    assert len(moments) == 4 and min(moments) - before > 0.4 and max(moments) - min(moments) < 0.3
    assert (done.mebibytes, done.seconds) == (12, 1.5) and done.rate_mb == pytest.approx(8.39, rel=0.001)
    assert done.each_mb == (pytest.approx(2.097, rel=0.001),) * 4 and done.ended_s == (1.5, 1.5, 1.5, 2.0)


def test_who_is_started_too_late_is_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = stand_in(tmp_path, monkeypatch)
    monkeypatch.setattr(fio, "_STARTED_S", -1.0)
    with pytest.raises(LabBroken, match="after all were to begin"):
        fio.play(here(tmp_path), JOBS, "write")
    assert not began.exists()


@pytest.mark.parametrize(("error", "size", "said"), [(5, 3 << 20, "error 5"), (0, 1 << 20, "did 1048576 of 3 MiB")])
def test_a_job_that_did_not_do_it_all_is_no_measurement(
    error: int, size: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, error=error, size=size)
    with pytest.raises(LabBroken, match=said):
        fio.play(here(tmp_path), JOBS, "write")

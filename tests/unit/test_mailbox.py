"""The folder through which the launcher's side and the agent in the lab host talk."""

import json
import os
import threading
from pathlib import Path

import pytest

from causeway.hosts.mailbox import Tail, put, submit


def test_a_job_appears_whole_with_its_request_and_empty_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))  # there is no terminal
    job = submit(tmp_path, ["status", "--json"])
    assert [folder.name for folder in (tmp_path / "jobs").iterdir()] == [job.folder.name]
    request = json.loads((job.folder / "request").read_text())
    assert request == {"argv": ["status", "--json"], "terminal": None, "seen": "80 colours"}
    assert (job.folder / "out").read_bytes() == (job.folder / "err").read_bytes() == b""


def test_an_interactive_job_names_its_terminal(tmp_path: Path) -> None:
    job = submit(tmp_path, ["shell", "nsd01"], terminal="ttyS1")
    assert json.loads((job.folder / "request").read_text())["terminal"] == "ttyS1"


def test_jobs_sort_in_the_order_in_which_they_were_handed_over(tmp_path: Path) -> None:
    jobs = [submit(tmp_path, [str(number)]) for number in range(50)]
    names = sorted(os.listdir(tmp_path / "jobs"))
    assert names == [job.folder.name for job in jobs]
    assert not any(name.startswith(".") for name in names)


def test_jobs_of_several_processes_at_once_do_not_meet(tmp_path: Path) -> None:
    threads = [threading.Thread(target=submit, args=(tmp_path, ["status"])) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(os.listdir(tmp_path / "jobs")) == 20


@pytest.mark.parametrize(("text", "rc"), [("0", 0), ("3\n", 3), ("-15", -15), ("", None)])
def test_the_exit_code_is_what_the_agent_wrote(tmp_path: Path, text: str, rc: int | None) -> None:
    job = submit(tmp_path, ["status"])
    assert job.rc is None
    (job.folder / "rc").write_text(text)
    assert job.rc == rc


def test_cancel_and_size_are_files_for_the_agent(tmp_path: Path) -> None:
    job = submit(tmp_path, ["shell", "nsd01"])
    job.cancel()
    job.cancel()
    job.size(24, 80)
    job.size(50, 132)
    assert (job.folder / "cancel").exists()
    assert (job.folder / "size").read_text() == "50 132"


def test_a_file_is_put_whole_and_leaves_no_other(tmp_path: Path) -> None:
    put(tmp_path / "rc", "1")
    put(tmp_path / "rc", "0")
    assert (tmp_path / "rc").read_text() == "0"
    assert os.listdir(tmp_path) == ["rc"]


def test_a_reader_never_sees_half_of_a_file_that_is_put(tmp_path: Path) -> None:
    file = tmp_path / "size"
    texts = {letter * 5000 for letter in "ab"}
    put(file, "a" * 5000)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for text in texts:
                put(file, text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {file.read_text() for _ in range(2000)}
    finally:
        stop.set()
        writer.join()
    assert seen <= texts


def test_output_is_passed_on_as_it_comes_each_piece_once(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    job = submit(tmp_path, ["status"])
    tail = Tail(job)
    tail.copy()
    assert capfdbinary.readouterr() == (b"", b"")
    for piece in (b"first\n", b"half a li", b"ne \xc3", b"\xa4\xff\n"):
        with (job.folder / "out").open("ab") as out:
            out.write(piece)
        tail.copy()
        assert capfdbinary.readouterr() == (piece, b"")
    with (job.folder / "err").open("ab") as err:
        err.write(b"bad\n")
    tail.copy()
    tail.copy()
    assert capfdbinary.readouterr() == (b"", b"bad\n")

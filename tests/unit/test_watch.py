"""`watch`: what a look asks, what two looks make of links, and what the screen shows of them."""

import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from causeway import process
from causeway.cli import board, watching
from causeway.cli.app import main
from causeway.errors import LabBroken
from causeway.folders import site_file
from causeway.hosts import mailbox
from causeway.hosts.uml import UmlHost
from causeway.lab.lab import Lab as RealLab
from causeway.lab.probes import glance as glance_module
from causeway.lab.probes import unixctl
from causeway.lab.probes.channels import parse_ovs_bond, parse_ovs_bonds
from causeway.model.load import load_site

JUBL = load_site(site_file("jubl"))
PORTS = [str(port) for cable in JUBL.cables for port in cable.ends]
BONDS = """---- SN ----
bond_mode: balance-slb
lacp_status: negotiated

member SN-1: enabled
member SN-2: disabled
---- FEN ----
bond_mode: balance-slb
lacp_status: configured
"""


def glance(at_s: float, sent: int = 0, **changes: Any) -> dict[str, Any]:
    channels = [
        {
            "node": end.node,
            "name": end.name,
            "peer": f"{other.node}:{other.name}",
            "negotiated": True,
            "members": dict.fromkeys(end.members, True),
        }
        for _, end, other in JUBL.channel_ends()
    ]
    return {
        "lab": "jubl",
        "clock": "paced",
        "at_s": at_s,
        "took_s": 0.01,
        "sent_bytes": dict.fromkeys(PORTS, 1000) | {PORTS[0]: sent},
        "nodes": dict.fromkeys(JUBL.nodes, "up"),
        "channels": channels,
        "mounts": {"gpfs": ["SN", "FEN"]},
        "faults": [],
        "not_restored": [],
        **changes,
    }


def shown(look: dict[str, Any] | None, width: int = 80, height: int | None = None) -> list[str]:
    assert look is not None
    return [line.plain for line in board.lines(look, width, height)]


def two(**changes: Any) -> dict[str, Any]:
    """The look that is shown after two of them, a second apart, in which one port sent at 800 Mbit/s."""
    rates = board.Rates(JUBL)
    rates.add(glance(10.0))
    found = rates.add(glance(11.0, 100_000_000, **changes))
    assert found is not None
    return found


# Rates


def test_rates_are_those_since_the_last_look_and_of_the_last_minute() -> None:
    rates = board.Rates(JUBL)
    assert rates.add(glance(0.0)) is None  # of one look there is none
    for second in range(1, 101):
        look = rates.add(glance(float(second), 12_500_000 * min(second, 70)))  # 100 Mbit/s, until 70 s
    assert look is not None
    (link,) = (link for link in look["links"] if link["from"] == PORTS[0])
    assert link["now_mbit"] == 0.0 and look["now_s"] == 1.0
    assert look["minute_s"] == 60.0 and link["minute_mbit"] == pytest.approx(50.0)
    assert len(look["links"]) == len(PORTS)


def test_a_lab_that_went_back_begins_anew() -> None:
    rates = board.Rates(JUBL)
    rates.add(glance(100.0))
    rates.add(glance(101.0))
    assert rates.add(glance(50.0)) is None
    look = rates.add(glance(51.0))
    assert look is not None and look["minute_s"] == 1.0


def test_a_port_that_is_not_there_has_no_rate() -> None:
    rates = board.Rates(JUBL)
    rates.add(glance(1.0, sent_bytes={}))
    look = rates.add(glance(2.0))
    assert look is not None and all(link["now_mbit"] is None for link in look["links"])
    assert shown(look)[-1].startswith("links")


# The screen


def test_a_sound_lab_is_told_in_few_lines_and_the_busiest_link_first() -> None:
    lines = shown(two())
    assert lines[0] == "jubl, clock paced, at 11.0 s"
    assert "nodes up: 19 of 19" in lines and "faults: none" in lines and "gpfs is mounted on 2: SN, FEN" in lines
    ends = len(list(JUBL.channel_ends()))
    assert any(line.startswith(f"channels with all members: {ends} of {ends}: nsd01:bond0 4,") for line in lines)
    assert "Mbit/s in the last 1.0 s, 1 s" in lines[-len(PORTS) - 1]
    first = lines[-len(PORTS)]
    assert first.startswith(PORTS[0]) and " 800.0 " in first


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": dict.fromkeys(JUBL.nodes, "up") | {"SN": "booting", "cn01": "off"}}, ["booting: SN", "off: cn01"]),
        ({"faults": [{"id": 2, "name": "link_silent"}]}, ["faults: 2 link_silent"]),
        ({"not_restored": ["io: the brick"]}, ["NOT RESTORED after io: the brick"]),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], said: list[str]) -> None:
    assert set(said) <= set(shown(two(**changes)))


def test_a_channel_that_lacks_a_member_has_a_line_of_its_own() -> None:
    channels = glance(0.0)["channels"]
    first = channels[0]
    lost = next(iter(first["members"]))
    channels[0] = first | {"negotiated": False, "members": first["members"] | {lost: False}}
    (line,) = (line for line in shown(two(channels=channels), width=200) if "DOWN" in line)
    assert line.startswith(f"{first['node']}:{first['name']} to {first['peer']}: up ")
    assert line.endswith(f"DOWN {lost}")


def test_of_a_channels_end_that_says_nothing_nothing_is_said() -> None:
    channels = glance(0.0)["channels"]
    first = channels[0]
    channels[0] = first | {"negotiated": None, "members": dict.fromkeys(first["members"])}
    (line,) = (line for line in shown(two(channels=channels)) if line.endswith("says nothing"))
    assert line.startswith(f"{first['node']}:{first['name']} to ")


@pytest.mark.parametrize("count", [None, {"io": 288}])
def test_no_line_is_wider_than_the_terminal_and_there_are_no_more_than_it_has(count: dict[str, int] | None) -> None:
    site = load_site(site_file("jubl"), count)
    rates = board.Rates(site)
    for second in 1.0, 2.0:
        sent = {str(port): int(second) * 10**9 for cable in site.cables for port in cable.ends}
        look = rates.add(glance(second, sent_bytes=sent, nodes=dict.fromkeys(site.nodes, "booting")))
    for width, height in ((80, 60), (40, 100), (200, 70)):
        lines = shown(look, width, height)
        assert max(map(len, lines)) <= width and len(lines) < height


# What is asked


def test_bonds_of_a_switch_are_told_apart() -> None:
    found = parse_ovs_bonds(BONDS)
    assert list(found) == ["SN", "FEN"]
    end = next(end for _, end, _ in JUBL.channel_ends() if end.name == "SN")
    assert parse_ovs_bond(end, found["SN"]).members == {"SN-1": True, "SN-2": False}


def answering(folder: Path, pieces: list[bytes]) -> threading.Thread:
    """A switch's socket, which answers one question in pieces."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "ovs-vswitchd.7.ctl"))
    listener.listen()

    def serve() -> None:
        line, _ = listener.accept()
        asked = json.loads(line.recv(4096))
        assert (asked["method"], asked["params"]) == ("bond/show", [])
        for piece in pieces:
            line.sendall(piece)
        line.close()
        listener.close()

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_a_switch_is_asked_at_its_socket(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "ovs-vswitchd.3.ctl"))  # of one that ended: nobody listens
    dead.close()
    thread = answering(tmp_path, [b'{"id":0,"err', b'or":null,"result":"---- SN ----"}'])
    assert unixctl.ask(tmp_path, "bond/show") == "---- SN ----"
    thread.join()


def test_a_switch_that_says_nothing_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(LabBroken, match="no ovs-vswitchd listens"):
        unixctl.ask(tmp_path, "bond/show")
    thread = answering(tmp_path, [b'{"id":0,'])
    with pytest.raises(LabBroken, match="it hung up"):
        unixctl.ask(tmp_path, "bond/show")
    thread.join()


# The lab host's lines


class Up(UmlHost):
    """One that is up, and whose agent is this test."""

    def running(self) -> bool:
        return True

    def job(self) -> mailbox.Job:
        deadline = time.monotonic() + 60
        while not (found := mailbox.jobs(self.share)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return found[0]


@pytest.fixture
def up(tmp_path: Path) -> Up:
    (tmp_path / "lab" / "now" / "share" / "jobs").mkdir(parents=True)
    return Up(tmp_path / "lab")


def test_lines_come_as_they_are_whole_and_nothing_is_left(up: Up) -> None:
    lines = up.lines(["watch"])

    def serve() -> None:
        job = up.job()
        for piece in ("one\ntw", "o\n"):
            with (job.folder / "out").open("a") as out:
                out.write(piece)
            time.sleep(0.05)
        mailbox.put(job.folder / "rc", "0")

    thread = threading.Thread(target=serve)
    thread.start()
    assert list(lines) == ["one", "two"]
    thread.join()
    assert mailbox.jobs(up.share) == []


def test_whoever_ends_lines_ends_the_command(up: Up) -> None:
    lines = up.lines(["watch"])

    def serve() -> None:
        job = up.job()
        (job.folder / "out").write_text("one\n")
        while not (job.folder / "cancel").exists():
            time.sleep(0.01)
        mailbox.put(job.folder / "rc", "130")

    thread = threading.Thread(target=serve)
    thread.start()
    assert next(lines) == "one"
    lines.close()
    thread.join()
    assert mailbox.jobs(up.share) == []


def test_lines_end_where_the_lab_goes_back_to_a_checkpoint(up: Up) -> None:
    lines = up.lines(["watch"])

    def serve() -> None:
        job = up.job()
        (job.folder / "out").write_text("one\n")
        time.sleep(0.1)
        shutil.rmtree(job.folder)  # in the checkpoint it is not there

    thread = threading.Thread(target=serve)
    thread.start()
    assert list(lines) == ["one"]
    thread.join()


def test_a_command_that_fails_is_told(up: Up) -> None:
    lines = up.lines(["watch"])

    def serve() -> None:
        job = up.job()
        (job.folder / "err").write_text("no lab is up\n")
        mailbox.put(job.folder / "rc", "2")

    thread = threading.Thread(target=serve)
    thread.start()
    with pytest.raises(LabBroken, match="no lab is up"):
        list(lines)
    thread.join()


def test_natively_a_process_is_read_and_ended() -> None:
    program = "import time\nprint('one', flush=True)\ntime.sleep(600)"
    lines = process.lines([sys.executable, "-c", program], os.environ)
    assert next(lines) == "one"
    lines.close()  # comes back, and has not waited for ten minutes
    with pytest.raises(LabBroken, match="so it is"):
        list(process.lines([sys.executable, "-c", "raise SystemExit('so it is')"], os.environ))


# The command


class Lab:
    """A lab host that says two looks, and then nothing more until it is ended."""

    name = "jubl"

    def __init__(self, then: object = None) -> None:
        self.asked: list[list[str]] = []
        self.ended, self._then = 0, then

    def site(self) -> Any:
        return JUBL

    def lines(self, argv: list[str]) -> Generator[str, None, None]:
        self.asked.append(argv)
        try:
            for second, sent in ((1.0, 0), (2.0, 50_000_000)):
                yield json.dumps(glance(second + 10 * len(self.asked), sent))
            if self._then is not None:
                raise self._then  # type: ignore[misc]
        finally:
            self.ended += 1


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.delenv("CAUSEWAY_LAB_HOST", raising=False)
    found = Lab()
    monkeypatch.setattr(watching.host, "running", lambda _: found)
    return found


def test_once_is_one_look_as_json(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--once", "--json"]) == 0
    look = json.loads(capsys.readouterr().out)
    assert look["lab"] == "jubl" and look["links"][0]["now_mbit"] == 400.0 and "sent_bytes" not in look
    assert (lab.asked, lab.ended) == ([["watch", "--lab", "jubl"]], 1)


def test_once_is_one_screen_without_colour_where_there_is_no_terminal(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "--once"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("jubl, clock paced, at 12.0 s\n") and "\x1b" not in out and lab.ended == 1
    assert max(map(len, out.splitlines())) <= 80


def test_an_interrupt_is_the_way_to_end_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    count = 0
    add = board.Rates.add

    def interrupted(self: board.Rates, one: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal count
        count += 1
        if count == 5:  # in the third part: the inside ends by itself now and then, and is asked anew
            os.kill(os.getpid(), signal.SIGINT)
        return add(self, one)

    monkeypatch.setattr(board.Rates, "add", interrupted)
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background would ignore it
    assert main(["watch", "--json"]) == 0
    signal.signal(signal.SIGINT, heeded)
    out, err = capsys.readouterr()
    assert len([json.loads(line) for line in out.splitlines()]) == 3 and err == ""
    assert (len(lab.asked), lab.ended) == (3, 3)


def test_a_lab_that_breaks_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "_then", LabBroken("it broke"))
    assert main(["watch"]) == 3
    assert "it broke" in capsys.readouterr().err


def test_a_lab_that_ends_is_no_error(
    up: Up, lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = up
    monkeypatch.setattr(Up, "running", lambda _: False)
    monkeypatch.setattr(Up, "site", lambda _: JUBL)
    monkeypatch.setattr(Up, "lines", lambda _, argv: Lab(LabBroken("the lab host ended")).lines(argv))
    monkeypatch.setattr(watching.host, "running", lambda _: ended)
    assert main(["watch"]) == 0
    assert capsys.readouterr().err == "lab has ended\n" and lab.asked == []


# What it costs


@pytest.mark.parametrize(("look_s", "pace"), [(0.001, 1.0), (0.5, 1.0), (0.001, 300.0), (0.2, 0.05)])
def test_looks_take_less_than_two_per_cent_of_the_wall_whatever_the_clocks_pace(
    look_s: float, pace: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pace`: how many of the lab's seconds pass in one of the wall's, where all are idle."""
    wall_s, looked, naps = 0.0, 0.0, 0

    def look(*_: object) -> dict[str, Any]:
        nonlocal wall_s, looked
        wall_s, looked = wall_s + look_s, looked + look_s
        return {}

    def sleep(seconds: float) -> None:
        nonlocal wall_s, naps
        wall_s, naps = wall_s + seconds / pace, naps + 1

    monkeypatch.setattr(glance_module, "Meter", lambda _: None)
    monkeypatch.setattr(glance_module, "_glance", look)
    monkeypatch.setattr(glance_module.clock, "wall_s", lambda: wall_s)
    monkeypatch.setattr(glance_module.time, "sleep", sleep)
    seen = list(glance_module.glances(RealLab(JUBL, tmp_path)))
    assert len(seen) == 600 and all(one["took_s"] == pytest.approx(look_s) for one in seen)
    assert looked / wall_s < 0.02 and wall_s >= 599
    assert naps / wall_s < 100  # each wakes a process

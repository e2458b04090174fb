"""Faults: each one shows and goes again, in virtual time; and what a trainee and their trainer type, in paced time."""

import json
import time
from pathlib import Path

import pytest
from conftest import Played, Tool, play

#: How a key begins, in PEM.
PRIVATE = "PRIVATE KEY"


def test_each_fault_shows_and_leaves_nothing_behind(on_jubl: Played) -> None:
    on_jubl.passed("every_fault")


@pytest.mark.night
@pytest.mark.parametrize("site", ["small", "jubl"])  # small lacks what a fault of exports takes
def test_each_fault_is_found_by_who_looks_as_it_says(site: str, tmp_path: Path) -> None:
    # in a lab of its own: where a scenario has rebooted a node, daemons look as if they had been late
    play(tmp_path, site, [], "found_by_look").passed("found_by_look")


def test_what_one_command_injects_another_clears(lab: Tool) -> None:
    def members_carry() -> int:
        (end,) = (end for end in lab.json("status", "--json")["channels"] if end["node"] == "nsd01")
        return sum(member["up"] for member in end["members"])

    first = lab("fault", "inject", "link_down", "node=nsd01", "device=eth3")
    second = lab("fault", "inject", "host_key_wrong", "node=FEN")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert first.stdout.startswith("fault 1 is in. Compare what each end of each cable says")
    for given_away in ("nsd01", "eth3", "link_down", "pulled", PRIVATE):
        assert given_away not in first.stdout + second.stdout
    assert members_carry() == 3

    unknown = lab("fault", "clear", "7")
    assert (unknown.returncode, unknown.stderr) == (2, "there is no fault 7; there are: 1, 2\n")
    for _ in range(2):
        assert lab("fault", "clear", "1").stderr == "cleared: 1\n"
    deadline = time.monotonic() + 10  # LACP agrees anew
    while members_carry() != 4 and time.monotonic() < deadline:
        time.sleep(1)
    assert members_carry() == 4
    assert lab("fault", "clear").stderr == "cleared: 2\n"
    assert lab("fault", "clear", "all").stderr == "cleared: nothing\n"
    assert lab.on("SN", "ssh", "-o", "BatchMode=yes", "FEN", "hostname") == "FEN\n"


def test_of_two_faults_of_one_thing_the_later_goes_first(lab: Tool) -> None:
    ids = []
    for via in ("10.2.64.203", "10.2.64.205"):
        done = lab("fault", "inject", "route_wrong", "node=SN", "to=10.1.33.202", f"via={via}")
        ids.append(done.stdout.split()[1])
    refused = lab("fault", "clear", ids[0])
    assert refused.returncode == 2 and f"fault {ids[1]} has since changed the same thing" in refused.stderr
    assert lab("fault", "clear").stderr == f"cleared: {ids[1]}, {ids[0]}\n"
    assert "10.1.33.202 via 10.2.64.202 dev bond0 " in lab.on("SN", "ip", "route")


def test_bad_parameters_are_all_named_and_nothing_is_touched(lab: Tool) -> None:
    before = lab.on("cn01", "tc", "qdisc")
    done = lab("fault", "inject", "link_lossy", "node=cn01", "device=eth7", "percent=many", "colour=red")
    assert done.returncode == 2
    for word in ("colour", "eth7", "'many'", "usage: causeway fault inject link_lossy"):
        assert word in done.stderr
    assert lab.on("cn01", "tc", "qdisc") == before
    for words, said in {
        "nosuch": "there is no fault nosuch; the faults are ",
        "service_stopped node=nsd01 service=chronyd": "chronyd does not run on nsd01",
        "export_moved path=/nowhere": "SN exports no /nowhere that could move; use /srv/nfs4/bgl, ",
        "route_one_way source=SN target=FEN": "FEN has no static route back to 10.2.64.220 (SN)",
        "authorized_key_wrong node=SN client=nsd01": "SN does not let root of nsd01 in anyway",
    }.items():
        refused = lab("fault", "inject", *words.split())
        assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr
    assert lab("fault", "clear").stderr == "cleared: nothing\n"


def test_what_is_set_by_hand_is_named_until_it_is_as_the_files_say(lab: Tool) -> None:
    forward = ("exec", "cn02", "--", "sysctl", "-w")
    before = lab("drift")
    assert (before.returncode, before.stderr.strip()) == (0, "all is as the nodes' files say")
    try:
        assert lab(*forward, "net.ipv4.ip_forward=1").returncode == 0
        found = lab("drift", "--json")
        assert found.returncode == 1
        due = {"node": "cn02", "what": "sysctl net.ipv4.ip_forward", "files": "0", "runs": "1"}
        assert json.loads(found.stdout) == [due]
        assert lab("drift", "cn01").returncode == 0
    finally:
        lab(*forward, "net.ipv4.ip_forward=0")
    assert lab("drift", "nobody").returncode == 2

"""Who of two that cannot talk is expelled, who comes back, and by which address nodes talk."""

import json
import socket
import threading
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from mc import leases
from mc.holders import Leases
from mc.leases import expelled, parse_subnets, spoken_to_at
from mc.native import Refused

LIMIT_S = 35
#: address -> its cluster; the manager's own is blue.
CLUSTERS = {"b1": "blue", "b2": "blue", "g1": "green", "g2": "green", "r1": "red"}


class Told:
    """The manager, to whom all nodes say whom they do not hear, time after time."""

    def __init__(self) -> None:
        self.leases, self.now = Leases("blue"), 0.0
        for n, (address, cluster) in enumerate(CLUSTERS.items()):
            self.leases.renew(float(n), cluster, address, [address], [], quorum=address == "b1")

    def say(self, after_s: float, *off: str, **silent: str) -> list[str]:
        """Some time later all nodes but those that are off renew their leases; what is decided."""
        self.now += after_s
        said: list[str] = []
        for address, cluster in CLUSTERS.items():
            if address not in off:
                quiet = silent.get(address, "").split()
                self.leases.renew(self.now, cluster, address, [address], quiet, quorum=address == "b1")
                said += self.leases.judge(self.now, LIMIT_S)
        return said

    def out(self) -> list[str]:
        return [address for address, holder in self.leases.holders.items() if holder.expelled]


@pytest.mark.parametrize(
    ("silent", "out"),
    [
        ({}, []),
        ({"g1": "r1"}, ["r1"]),  # two strangers: who joined last
        ({"r1": "g1"}, ["r1"]),  # whoever complains
        ({"g1": "g2"}, ["g2"]),
        ({"b2": "g1"}, ["g1"]),  # rather another cluster's
        ({"b2": "b1"}, ["b2"]),  # rather no quorum node
        ({"b1": "g1 g2 r1"}, ["g1", "g2", "r1"]),  # a quorum node stays, whomever it does not hear
        ({"g1": "b1 b2 g2 r1"}, ["g1"]),  # who is out counts no more
        ({"g1": "r1", "g2": "r1", "b1": "r1"}, ["r1"]),
        ({"g1": "nobody g1"}, []),
    ],
)
def test_of_two_who_do_not_reach_each_other_one_goes(silent: dict[str, str], out: list[str]) -> None:
    told = Told()
    told.say(7, **silent)
    assert told.out() == out


def test_what_is_decided_is_said_once_and_names_both() -> None:
    told = Told()
    assert told.say(7, g1="r1") == ["r1 of red is expelled: it and g1 of green do not reach each other"]
    assert told.say(7, g1="r1") == []
    assert told.leases.holders["r1"].expelled == "it and g1 of green do not reach each other"


def test_who_reaches_all_again_is_back_and_is_the_last_that_has_joined() -> None:
    told = Told()
    told.say(7, g2="g1")
    assert told.out() == ["g2"]
    told.say(7, g2="r1")  # it does not reach another one now
    assert told.out() == ["g2"]
    assert told.say(7) == ["g2 of green is back: it reaches all who hold a lease"]
    told.say(7, g2="r1")
    assert told.out() == ["g2"], "r1 was last, before g2 came back"


def test_two_who_are_out_do_not_keep_each_other_out_together() -> None:
    told = Told()
    told.say(7, b1="g1 r1", g1="r1")
    assert told.out() == ["g1", "r1"]
    told.say(7, g1="r1")
    assert told.out() == ["r1"]


def test_of_a_node_that_is_down_nobody_is_expelled() -> None:
    told = Told()
    all_of_g1 = {"b1": "g1", "b2": "g1", "g2": "g1", "r1": "g1"}
    for _ in range(4):
        told.say(7, "g1")
    for _ in range(2):  # those who complain have heard it last when it last renewed its lease
        assert told.say(7, "g1", **all_of_g1) == []
    assert "g1" not in told.leases.holders and told.out() == []


def test_a_node_that_was_down_is_no_holder_until_it_asks_again() -> None:
    told = Told()
    told.say(7, g1="r1")
    for _ in range(6):
        told.say(7, "r1")
    assert "r1" not in told.leases.holders
    told.say(7)
    assert told.out() == [] and told.leases.holders["r1"].joined == told.now


def test_no_cluster_takes_the_lease_of_anothers_node() -> None:
    told = Told()
    with pytest.raises(Refused, match="g1 of green holds a lease, and red asks for it"):
        told.leases.renew(1, "red", "g1", [], [], quorum=False)


BLUE, GREEN = ["10.1.0.1", "10.2.0.1"], ["10.1.0.2", "10.2.0.2", "10.3.0.2"]


@pytest.mark.parametrize(
    ("subnets", "at"),
    [
        ("", "10.3.0.2"),
        ("10.2.0.0/24", "10.2.0.2"),
        ("10.3.0.0/24", "10.3.0.2"),  # only one has an address there
        ("10.9.0.0/24,10.2.0.0/24,10.1.0.0/24", "10.2.0.2"),  # the first in which both have
    ],
)
def test_two_talk_by_the_first_subnet_in_which_both_have_an_address(subnets: str, at: str) -> None:
    assert spoken_to_at(parse_subnets(subnets), BLUE, "10.3.0.2", GREEN) == at


@pytest.mark.parametrize("text", ["10.2.0.0/33", "home", "10.2.0.1/24"])
def test_what_is_no_subnet_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=f"subnets={text}: .*; give NETWORK/LENGTH, several with commas between them"):
        parse_subnets(text)


def test_a_subnet_is_a_network() -> None:
    assert parse_subnets("10.2.0.0/24") == [IPv4Network("10.2.0.0/24")]


def test_whether_a_node_is_expelled_its_daemon_says_and_where_none_answers_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "SOCKET", str(tmp_path / "s"))
    assert expelled() is None
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(leases.SOCKET)
        daemon.listen(1)

        def tell() -> None:
            with daemon.accept()[0] as asker:
                asker.sendall(json.dumps({"blue": "why"}).encode())

        thread = threading.Thread(target=tell)
        thread.start()
        assert expelled() == {"blue": "why"}
        thread.join()
    assert expelled() is None

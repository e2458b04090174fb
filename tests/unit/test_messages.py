"""The program that exchanges messages in turns, on addresses of this machine alone."""

import json
import subprocess
import sys
import time
from itertools import pairwise
from typing import Any

NODES = ("127.0.5.1", "127.0.5.2", "127.0.5.3")
PORT = 50201
SIZE = 1 << 20


def play(rounds: dict[str, list[dict[str, Any]]]) -> dict[str, list[list[float]]]:
    """Each node's rounds, as its program tells them."""
    begun = {}
    for node, parts in rounds.items():
        request = {"own": node, "port": PORT, "size": SIZE, "window": 1 << 18, "rounds": parts}
        argv = [sys.executable, "-m", "causeway.lab.probes.turns", json.dumps(request)]
        begun[node] = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        return {node: json.loads(child.communicate(timeout=60)[0]) for node, child in begun.items()}
    finally:
        for child in begun.values():
            child.kill()
            child.wait()


def test_in_a_ring_nobody_is_more_than_a_step_ahead_of_a_neighbour() -> None:
    at = time.monotonic() + 3
    rounds = {}
    for place, node in enumerate(NODES):
        both = [NODES[place - 1], NODES[(place + 1) % len(NODES)]]
        rounds[node] = [{"at": at, "times": 5, "turns": [{"to": both, "from": both}]}]
    ends = play(rounds)
    for times in (parts[0] for parts in ends.values()):
        assert len(times) == 5
        assert times[0] >= at
        assert all(first < after for first, after in pairwise(times))
    for step in range(4):
        first = min(parts[0][step + 1] for parts in ends.values())
        assert first >= max(parts[0][step] for parts in ends.values())


def test_ping_pong_goes_there_and_back_and_a_second_round_waits_for_its_time() -> None:
    one, other, _ = NODES
    at = time.monotonic() + 3
    there, back = {"to": [other], "from": []}, {"to": [], "from": [other]}
    answer = [{"to": [], "from": [one]}, {"to": [one], "from": []}]
    ends = play(
        {
            one: [{"at": at, "times": 3, "turns": [there, back]}, {"at": at + 2, "times": 1, "turns": [there, back]}],
            other: [{"at": at, "times": 3, "turns": answer}, {"at": at + 2, "times": 1, "turns": answer}],
        }
    )
    assert [len(part) for part in ends[one]] == [len(part) for part in ends[other]] == [6, 2]
    received = sorted([*ends[other][0][::2], *ends[one][0][1::2]])
    by_turns = [time for pair in zip(ends[other][0][::2], ends[one][0][1::2], strict=True) for time in pair]
    assert received == by_turns  # each message is through before its answer
    assert min(ends[one][1][0], ends[other][1][0]) >= at + 2

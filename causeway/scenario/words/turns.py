"""Programs that take turns, for scenarios: ping-pong between couples, and steps in rings, timed."""

from collections.abc import Sequence

from causeway.lab.probes.messages import Round, Turn, exchange
from causeway.plan.turns import ring_mbit
from causeway.scenario.stage import Stage

#: Bytes of a message of ping-pong, and how many go each way.
PING, PINGS = 8 * 2**20, 10
#: Bytes of a message in a ring, and steps that are taken in each.
RING, STEPS = 2 * 2**20, 12
#: Between two rings, and how much longer than computed a ring may take before the next begins.
_PAUSE_S, _SPARE = 0.3, 1.5


def seconds(size: int, mbit: float) -> float:
    """How long so many bytes take."""
    return size * 8 / 1e6 / mbit


def ping_pong(
    stage: Stage, network: str, couples: Sequence[tuple[str, str]], late_s: float = 0.0
) -> dict[tuple[str, str], float]:
    """Couples that send each other messages in turn, each couple `late_s` after the one before.

    Returns the Mbit/s of each couple's messages while all are at it, without its first two.
    """
    plans: dict[str, list[Round]] = {}
    for place, (one, other) in enumerate(couples):
        at_s = place * late_s
        plans[one] = [Round([Turn(to=[other]), Turn(from_=[other])], PINGS, at_s)]
        plans[other] = [Round([Turn(from_=[one]), Turn(to=[one])], PINGS, at_s)]
    ends = exchange(stage.lab, network, plans, PING)
    # a message is through when it has been received: at the other one first
    through = {c: sorted([*ends[c[1]][0][::2], *ends[c[0]][0][1::2]]) for c in couples}
    until = min(times[-1] for times in through.values())
    found = {}
    for couple, times in through.items():
        counted = [at for at in times[1:] if at <= until]
        found[couple] = PING * 8 / 1e6 * (len(counted) - 1) / (counted[-1] - counted[0])
    return found


def rings(stage: Stage, network: str, orders: Sequence[Sequence[str]]) -> list[float]:
    """Steps in rings of the same nodes, one ring after the other: in each all send to both neighbours at once.

    Returns for each ring the Mbit/s that a node sends: a step is over when the slowest is. All steps count, from the
    ring's start on: who does not wait for the slowest is steps ahead of it, so what is sent between the ends of two
    steps is less than their messages, and would seem up to 7 % too fast.
    """
    plans: dict[str, list[Round]] = {node: [] for node in orders[0]}
    begins: list[float] = []
    at_s = 0.0
    for order in orders:
        for place, node in enumerate(order):
            both = [order[place - 1], order[(place + 1) % len(order)]]
            plans[node].append(Round([Turn(to=both, from_=both)], STEPS, at_s))
        begins.append(at_s)
        at_s += _PAUSE_S + _SPARE * STEPS * seconds(2 * RING, ring_mbit(stage.site, network, order))
    ends = exchange(stage.lab, network, plans, RING)
    return [ring_seen_mbit(begin, [times[ring] for times in ends.values()]) for ring, begin in enumerate(begins)]


def ring_seen_mbit(begin_s: float, ends_s: Sequence[Sequence[float]]) -> float:
    """What a node of a ring sent, of which each node's steps ended then; nodes send two messages a step."""
    return 2 * RING * 8 / 1e6 * len(ends_s[0]) / (max(times[-1] for times in ends_s) - begin_s)

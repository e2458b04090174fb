"""Predict what a change moves, in seconds and without a lab."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from causeway.model.thing import Port
from causeway.rehearse.answer import Move, Prediction
from causeway.rehearse.change import Change
from causeway.rehearse.compare import (
    filesystem_moves,
    node_moves,
    rate_moves,
    rates,
    reach_moves,
    setting_moves,
)
from causeway.rehearse.lacks import lacks
from causeway.rehearse.reach import Reach
from causeway.render.secrets import Secrets
from causeway.render.site import render


def predict(change: Change, name: str) -> Prediction:
    """All that a change moves; `name` is how it is called."""
    before, after = Reach(change.before), Reach(change.after)
    found = list(rates(before, after))
    moves = [Move("command", "worse", "it works", text) for text in change.fails]
    moves += reach_moves(before, after)
    moves += _on_the_way(change, before, after)
    moves += node_moves(before, after)
    moves += filesystem_moves(before, after)
    moves += _new_mounts(change)
    for node, what, which in lacks(change.after, change.overlay):
        moves.append(Move(what, "worse", "none", str(len(which)), {node: which}))
    moves += rate_moves(found)
    moves += setting_moves(change.before, change.after)
    return Prediction(change.before.name, name, moves, found, _files(change), change.unpredicted)


def _on_the_way(change: Change, before: Reach, after: Reach) -> Iterator[Move]:
    """Who cannot talk after a step of the change, and could before it and can at its end."""
    last = before.site
    for step in change.steps[:-1]:
        if step.after == last:
            continue
        last = step.after
        for move in reach_moves(before, Reach(step.after), f" after line {step.line}"):
            pairs = {one: [port for port in ports if _works(after, one, port)] for one, ports in move.pairs.items()}
            left = {one: ports for one, ports in pairs.items() if ports}
            if move.turn == "worse" and left:
                yield replace(move, pairs=left)


def _new_mounts(change: Change) -> Iterator[Move]:
    """Whom servers would not let mount any more, for whose key it is; and whom meanwhile."""
    last = change.steps[-1].keys if change.steps else None
    at_the_end = set(last.refused()) if last else set()
    told: set[tuple[str, str, str]] = set()
    for step in change.steps:
        now = set(step.keys.refused())
        when = "" if step is change.steps[-1] else f" after line {step.line}"
        for client, name, why in sorted(now if not when else now - told - at_the_end):
            nodes: dict[str, list[str]] = {node: [] for node in change.before.members(client)}
            yield Move(f"new mounts of {name}{when}", "worse", "yes", why, nodes)
        told = now


def _works(reach: Reach, one: str, port: str) -> bool:
    node, _, device = port.partition(":")
    talk = reach.talks.get((one, Port(node, device)))
    return talk is not None and talk.works


def _files(change: Change) -> Mapping[str, list[str]]:
    """The files that nodes must get: those of the user's, or those that come out otherwise of the site's file."""
    found: dict[str, list[str]] = {}
    if change.overlay:
        for node, files in change.overlay.items():
            for path in files:
                found.setdefault(f"/{path}", []).append(node)
    elif not change.steps:
        old, new = Secrets(change.before), Secrets(change.after)
        new.host |= old.host
        new.root |= old.root
        was, now = render(change.before, old), render(change.after, new)
        for path in sorted(now.keys() | was.keys()):
            parts = path.split("/", 2)
            if parts[0] == "nodes" and "/" in parts[2] and was.get(path) != now.get(path):
                found.setdefault(f"/{parts[2]}", []).append(parts[1])
    return found

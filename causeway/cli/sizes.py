"""The command that sizes storage: from a rate and a capacity to arrays, servers and links."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from causeway.cli import complete, tables
from causeway.cli.command import AsJson
from causeway.cli.screen import out, print_json, show
from causeway.errors import BadInput
from causeway.model.findings import one_of
from causeway.plan.published import contradictions_of, place
from causeway.plan.sizing import MOST, Catalogue, Clients, Need, NoAnswer, Size, catalogue, own
from causeway.plan.sizing import size as sized

_Rate = Annotated[float, typer.Option(metavar="N", help="MB/s (powers of ten)")]
_Operations = Annotated[float, typer.Option(metavar="N", help="operations a second")]


def size(
    block: Annotated[
        str | None,
        typer.Argument(
            metavar="[BLOCK]",
            help="a building block, or a file of your own ones; default: each there is",
            autocompletion=complete.blocks,
        ),
    ] = None,
    write: _Rate = 0,
    read: _Rate = 0,
    write_iops: _Operations = 0,
    read_iops: _Operations = 0,
    usable: Annotated[float, typer.Option(metavar="N", help="TB without parity and spares")] = 0,
    blocks: Annotated[int | None, typer.Option(metavar="N", help="so many blocks, in place of a need")] = None,
    nodes: Annotated[int | None, typer.Option(metavar="N", help="how many share the rates at once")] = None,
    blocking: Annotated[float, typer.Option(metavar="N", help="N nodes share one node's rate on the way up")] = 1,
    as_json: AsJson = False,
) -> None:
    """Say how many storage building blocks a need takes: arrays, servers, links, what bounds, and what to mind.

    Or, with --blocks, what so many give. Of a block that is named, also what its source contradicts itself in.
    """
    need = Need(write, read, write_iops, read_iops, usable)
    names = ("write", "read", "write-iops", "read-iops", "usable")
    given = dict(zip(names, vars(need).values(), strict=True))
    mistakes = [wrong for name, value in given.items() for wrong in _outside(name, value, 0)]
    for name, number in {"blocks": blocks, "nodes": nodes, "blocking": blocking}.items():
        mistakes += _outside(name, 1 if number is None else number, 1)
    if blocks is not None and (needs := [f"--{name}" for name, value in given.items() if value]):
        mistakes.append(f"--blocks says how many there are, and {', '.join(needs)} what they must do; say one of both")
    if blocking != 1 and nodes is None:
        mistakes.append("--blocking is of nodes' uplinks; say --nodes, too")
    chosen, known = _chosen(block, mistakes)
    if mistakes:
        raise BadInput("\n".join(mistakes))
    clients = None if nodes is None else Clients(nodes, blocking)
    found: list[Size] = []
    lacking: list[str] = []
    for name in chosen:
        try:
            one = Size(name, blocks, "as asked", clients, known) if blocks else sized(name, need, clients, known)
            found.append(one)
        except NoAnswer as error:
            lacking.append(str(error))
    if not found:
        raise BadInput("\n".join(lacking))
    if as_json:
        print_json([_data(one) for one in found])
        return
    out.print(tables.sizes(found))
    for one in found:
        for warning in one.warnings():
            show(f"{one.name}: {warning}")
    for words in lacking:
        show(f"left out: {words}")
    if block in catalogue().blocks:
        _show_contradictions(block)


def _chosen(block: str | None, mistakes: list[str]) -> tuple[list[str], Catalogue]:
    """The blocks that are meant, and the catalogue that has them."""
    known = catalogue()
    if block is None:
        return list(known.blocks), known
    if block in known.blocks:
        return [block], known
    if "/" in block or Path(block).suffix or Path(block).exists():
        try:
            found = own(Path(block))
        except BadInput as error:
            mistakes.append(str(error))
            return [], known
        return list(found.blocks), found
    if block.lower() in known.unfit.arrays:
        mistakes.append(f"{block}: {place(known.unfit.says)}; {one_of('', known.blocks)}")
    else:
        mistakes.append(f"there is no building block {block!r}; {one_of(block, known.blocks)}")
    return [], known


def _outside(name: str, value: float, least: int) -> Iterator[str]:
    if not least <= value <= MOST:  # nor is what is no number
        yield f"--{name} {value}: say a number from {least} to {MOST:.0f}"


def _show_contradictions(block: str) -> None:
    for name, one in contradictions_of(block).items():
        show(f"the source contradicts itself ({name}): {one.about}; taken: {one.takes}")
        for figure in one.figures:
            show(f"{figure.printed}: {place(figure.says)}", indent=2)


def _data(one: Size) -> dict[str, Any]:
    average = one.average_mb_s
    return {
        "block": one.name,
        "blocks": one.blocks,
        "because": one.because,
        "servers": one.servers,
        "servers_needed": one.servers_needed,
        "lan": {"kind": one.block.lan, "links": one.servers},
        "san": {"kind": one.block.san, "links": one.servers},
        "disks": one.disks,
        "raw_tb": one.raw_tb,
        "usable_tb": one.usable_tb,
        "stages": [asdict(stage) for stage in one.stages],
        "write": asdict(one.write),
        "read": asdict(one.read),
        "per_server_mb_s": one.per_server_mb_s,
        "average": None if average is None else dict(zip(("write_mb_s", "read_mb_s"), average, strict=True)),
        "warnings": list(one.warnings()),
        "contradictions": sorted(contradictions_of(one.name)) if one.known is catalogue() else [],
    }

"""The command that sizes storage: from a rate and a capacity to arrays, servers and links."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from causeway.cli import tables
from causeway.cli.command import AsJson
from causeway.cli.screen import out, print_json, show
from causeway.errors import BadInput
from causeway.model.findings import one_of
from causeway.plan.sizing import Need, Size, Unknown, catalogue
from causeway.plan.sizing import size as sized

_Rate = Annotated[float, typer.Option(metavar="N", min=0, help="MB/s (powers of ten)")]
_Operations = Annotated[float, typer.Option(metavar="N", min=0, help="operations a second")]


def size(
    block: Annotated[str | None, typer.Argument(metavar="[BLOCK]", help="default: each that there is")] = None,
    write: _Rate = 0,
    read: _Rate = 0,
    write_iops: _Operations = 0,
    read_iops: _Operations = 0,
    usable: Annotated[float, typer.Option(metavar="N", min=0, help="TB without parity and spares")] = 0,
    nodes: Annotated[int | None, typer.Option(metavar="N", min=1, help="how many share the rates at once")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many storage building blocks a need takes: arrays, servers, links, what bounds, and what to mind."""
    known = catalogue().blocks
    if block is not None and block not in known:
        raise BadInput(f"there is no building block {block!r}; {one_of(block, known)}")
    need = Need(write, read, write_iops, read_iops, usable)
    found: list[Size] = []
    unknown: list[str] = []
    for name in [block] if block else known:
        try:
            found.append(sized(name, need))
        except Unknown as error:
            unknown.append(str(error))
    if not found:
        raise BadInput("\n".join(unknown))
    if as_json:
        print_json([_data(one, nodes) for one in found])
        return
    out.print(tables.sizes(found, nodes))
    for one in found:
        for warning in one.warnings():
            show(f"{one.name}: {warning}")
    for words in unknown:
        show(f"left out: {words}")


def _data(one: Size, nodes: int | None) -> dict[str, Any]:
    average = dict(zip(("write_mb_s", "read_mb_s"), one.average_mb_s(nodes), strict=True)) if nodes else None
    return {
        "block": one.name,
        "blocks": one.blocks,
        "because": one.because,
        "servers": one.servers,
        "lan": {"kind": one.block.lan, "links": one.servers},
        "san": {"kind": one.block.san, "links": one.servers},
        "disks": one.disks,
        "usable_tb": one.usable_tb,
        "write": asdict(one.write),
        "read": asdict(one.read),
        "per_server_mb_s": one.per_server_mb_s,
        "average": average,
        "warnings": list(one.warnings()),
    }

"""Tables, for people and as JSON."""

from collections.abc import Sequence


def show(heads: Sequence[str], rows: Sequence[Sequence[object]], as_json: bool, about: object = None) -> None:
    """Print a table; as JSON a list of objects, or an object with what is said `about` it."""
    if as_json:
        import json

        listed = [dict(zip((h.replace(" ", "_") for h in heads), row, strict=True)) for row in rows]
        print(json.dumps(listed if about is None else {"about": about, "rows": listed}, indent=2))
        return
    table = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    print("\n".join([lines[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]]))

"""What a site's folder keeps of a run, for its story: an extract of the run's report, which only a run can change.

topologies/SITE/NAME.json names a scenario, how the title of one of its tables of streams ends, what others published of
the same streams ("A to B", in Mbit/s), and how far ours may be from that (`within`, a part of theirs).
`python -m causeway.docs.keep RUN...` takes the rows of each anew from runs' folders. In SITE's about.md a line
`<!-- NAME.json -->` is the table.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from causeway.docs.markdown import table
from causeway.errors import BadInput
from causeway.folders import REPO
from causeway.report.result import Run, Table, from_json

#: What is taken of a stream: the columns of the report's table, and what they are called here.
_COLUMNS = {
    "member computed": "member",
    "expected Mbit/s": "expected_mbit",
    "measured Mbit/s": "measured_mbit",
}


def extracts() -> list[Path]:
    """Every file of this kind."""
    return sorted((REPO / "topologies").glob("*/*.json"))


def refresh(extract: dict[str, Any], run: Run) -> dict[str, Any] | None:
    """An extract with the rows of this run; None when the run did not play its scenario.

    BadInput when the scenario has no such table, the table not just one stream between the ends of each, or a stream
    another rate than was published.
    """
    played = [s for s in run.scenarios if s.name == extract["scenario"]]
    if not played:
        return None
    titled = [exhibit for exhibit in played[0].exhibits if isinstance(exhibit, Table)]
    found = next((exhibit for exhibit in titled if exhibit.title.endswith(extract["table"])), None)
    if found is None:
        titles = [exhibit.title for exhibit in titled]
        raise BadInput(f"run {run.id}: {extract['scenario']} has no table {extract['table']!r}; it has {titles}")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    streams = []
    for ends in extract["published"]["mbit"]:
        wanted = [row for row in rows if all(end.casefold() in row["stream"].casefold() for end in ends.split(" to "))]
        if len(wanted) != 1:
            raise BadInput(f"run {run.id}: {len(wanted)} streams are {ends}; it has {[row['stream'] for row in rows]}")
        streams.append({"stream": ends} | {new: wanted[0][old] for old, new in _COLUMNS.items()})
    if off := list(_far(extract["published"], streams)):
        raise BadInput("\n".join(f"run {run.id}: {what}" for what in off))
    return extract | {"lab": run.lab, "run": run.id, "clock": run.clock, "seed": run.seed, "streams": streams}


def _far(published: dict[str, Any], streams: list[dict[str, str]]) -> Iterator[str]:
    """The streams whose rates are not what was published of them."""
    for stream in streams:
        theirs, ours = published["mbit"][stream["stream"]], float(stream["measured_mbit"])
        if abs(ours - theirs) > published["within"] * theirs:
            by, within = published["by"], 100 * published["within"]
            yield f"{stream['stream']}: {ours} Mbit/s, and {by} has {theirs}: more than {within:g} % off"


def tables(folder: Path) -> dict[str, list[str]]:
    """The tables that a site's story may ask for, by the names of their files."""
    return {file.name: list(_lines(json.loads(file.read_text()))) for file in sorted(folder.glob("*.json"))}


def _lines(extract: dict[str, Any]) -> Iterator[str]:
    """The streams, what was published beside what was expected and measured; the sum; and which run it was."""
    published: dict[str, float] = extract["published"]["mbit"]
    by, streams = extract["published"]["by"], extract["streams"]
    on = Counter(stream["member"] for stream in streams)
    rows = [
        [
            s["stream"],
            f"{published[s['stream']]}",
            s["expected_mbit"],
            s["measured_mbit"],
            f"{100 * (float(s['measured_mbit']) / published[s['stream']] - 1):+.1f} %",
            f"{s['member']} ({on[s['member']]})",
        ]
        for s in streams
    ]
    sums = [sum(float(s[key]) for s in streams) for key in ("expected_mbit", "measured_mbit")]
    whole = sum(published.values())
    rows.append(
        ["all", f"{whole:.1f}", *(f"{total:.2f}" for total in sums), f"{100 * (sums[1] / whole - 1):+.1f} %", ""]
    )
    numbers = f"{by}|ours, expected|ours, measured|off by"
    yield from table(f"stream|{numbers}|our member (streams on it)", rows, right=numbers)
    split = ", ".join(f"{member} {on[member]}" for member in sorted(on))
    yield f"Mbit/s of TCP payload. Ours: run `{extract['run']}`, seed {extract['seed']}; streams on a member: {split}."


def main(folders: list[str]) -> int:
    """Refresh every extract from these runs; says which, and ends with 2 when none was."""
    done = []
    for file in extracts():
        for folder in folders:
            report = json.loads((Path(folder) / "report.json").read_text())
            if fresh := refresh(json.loads(file.read_text()), from_json(report)):
                file.write_text(json.dumps(fresh, indent=2, ensure_ascii=False) + "\n")
                done.append(f"{file.relative_to(REPO)} from {fresh['run']}")
    sys.stderr.write("\n".join(done or ["nothing kept: no run played what is kept"]) + "\n")
    return 0 if done else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

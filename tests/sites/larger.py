"""The site of the race (race.yaml) with larger blocks.

    python -m tests.sites.larger 64 > site.yaml
    python -m tests.sites.larger 64 --filesystems > site.yaml

Without filesystems, which make boots long, a node's start script waits for none; that its /tmp is stale is seen all the
same, in blocks of each size. With them the site is as startup_race takes it: its small blocks, and one large one.
"""

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

Data = dict[str, Any]
RACE = Path(__file__).with_name("race.yaml")
#: Blocks in the machine's order, by how many I/O nodes they have.
BLOCKS = {
    4: "R00-M0-N[01]-?",
    16: "R00-M0-N[0-7]-?",
    32: "R00-M0-*",
    64: "R00-*",
    128: "R0[01]-*",
    256: "R0[0-3]-*",
}


def with_racks(race: Data, most: int) -> Data:
    """The data of a site with one block of `most` I/O nodes in place of its largest, with which it comes up."""
    site = deepcopy(race)
    pool = site["pools"]["io"]
    del pool["blocks"][pool["booted"]]
    pool["blocks"][f"B{most}"] = BLOCKS[most]
    pool |= {"count": most, "booted": f"B{most}"}
    pool["locations"] = [{"racks": ["R00", "R01", "R02", "R03"], "connectors": [3, 4]}]
    return site


def larger(race: Data, most: int) -> Data:
    """The same without filesystems and with blocks of all sizes up to that; it comes up with the smallest."""
    site = with_racks(race, most)
    pool = site["pools"]["io"]
    pool["blocks"] = {f"B{size}": pattern for size, pattern in BLOCKS.items() if size <= most}
    pool["booted"] = next(iter(pool["blocks"]))
    del site["filesystems"]
    for cluster in site["clusters"].values():
        cluster.pop("mounts", None)
    return site


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("most", type=int, choices=BLOCKS, help="I/O nodes of the largest block")
    parser.add_argument("--filesystems", action="store_true", help="with the filesystem, and two small blocks beside")
    given = parser.parse_args()
    made = with_racks if given.filesystems else larger
    print(yaml.safe_dump(made(yaml.safe_load(RACE.read_text()), given.most), sort_keys=False))


if __name__ == "__main__":
    main()

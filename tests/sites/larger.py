"""The site of the race (race.yaml) with larger blocks, and without filesystems, which make boots long.

    python -m tests.sites.larger 64 > site.yaml

What a node's start script needs of a filesystem it then does not wait for; that its /tmp is stale is seen all the same.
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


def larger(race: Data, most: int) -> Data:
    """The data of a site with all blocks up to one of `most` I/O nodes; it comes up with the smallest."""
    site = deepcopy(race)
    pool = site["pools"]["io"]
    pool |= {"count": most, "blocks": {f"B{size}": pattern for size, pattern in BLOCKS.items() if size <= most}}
    pool |= {"locations": [{"racks": ["R00", "R01", "R02", "R03"], "connectors": [3, 4]}]}
    pool["booted"] = next(iter(pool["blocks"]))
    del site["filesystems"]
    for cluster in site["clusters"].values():
        cluster.pop("mounts", None)
    return site


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("most", type=int, choices=BLOCKS, help="I/O nodes of the largest block")
    print(yaml.safe_dump(larger(yaml.safe_load(RACE.read_text()), parser.parse_args().most), sort_keys=False))


if __name__ == "__main__":
    main()

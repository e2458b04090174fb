"""jubl with the I/O nodes that a block of the Redpaper takes, and as few others as the machine's order allows.

    python -m tests.sites.blocks R001 > site.yaml

The powered I/O nodes are `count` locations from `first` on, so who wants the paper's own places pays for what lies
between them: jubl's own eight are none of R000_N0123 or R001. Addresses are those of jubl, for they are the places'.
"""

import argparse
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from causeway.model.load import load_site
from causeway.model.pools.bluegene import BlueGene, all_names

Data = dict[str, Any]
JUBL = Path(__file__).resolve().parents[2] / "topologies" / "jubl" / "site.yaml"


def with_block(jubl: Data, block: str, booted: str = "") -> Data:
    """The data of a site that has all of a block; it comes up with that one, or with `booted`."""
    site = deepcopy(jubl)
    pool = site["pools"]["io"]
    places = all_names(BlueGene.model_validate(pool))
    of_it = [place for place, name in enumerate(places) if fnmatchcase(name, pool["blocks"][block])]
    pool |= {"first": places[of_it[0]], "count": of_it[-1] - of_it[0] + 1, "booted": booted or block}
    return site


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("block", choices=load_site(JUBL).topology.pools["io"].blocks)  # type: ignore[union-attr]
    parser.add_argument("--booted", default="", help="another block with which it comes up")
    given = parser.parse_args()
    print(yaml.safe_dump(with_block(yaml.safe_load(JUBL.read_text()), given.block, given.booted), sort_keys=False))


if __name__ == "__main__":
    main()

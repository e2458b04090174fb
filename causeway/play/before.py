"""What a rehearsal measures before anything is changed, and how it gets from one lab to its twin.

Both are clones of one template, and wake with the same seed: the change begins at the very instant, and from the very
state, from which was measured, and not in a lab that has carried streams.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from causeway.lab.probes.pairs import Pair, Seen
from causeway.play.mounts import Mounts
from causeway.play.streams import Played
from causeway.report.rehearsal import Done

#: Where the one lab leaves it, and its twin has it. From a lab to a lab, each in its jail: nobody else reads it.
TWIN = Path("/share/before")


@dataclass(frozen=True)
class Before:
    """Who reached whom, what was mounted, what patterns of streams got, and what is told of it; its seconds."""

    reached: Mapping[Pair, Seen]
    mounted: Mounts
    rates: Mapping[str, Played]
    done: Done
    wall_s: float
    virtual_s: float
    transcript: str = ""

    def leave(self, file: Path = TWIN) -> None:
        """Leave it for the twin."""
        file.write_bytes(pickle.dumps(self))


def of_a_twin(file: Path = TWIN) -> Before | None:
    """What a twin of this lab has measured; None where there was none."""
    if not file.exists():
        return None
    found = pickle.loads(file.read_bytes())
    assert isinstance(found, Before)
    return found

"""What a lab's cables carried while a run played, and the file in which the run keeps it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from causeway.errors import BadInput

FILE = "load.json"


@dataclass(frozen=True)
class Sample:
    """What ports sent in the span that ended `at_s` seconds after the run's begin, on the lab's clock.

    `sent_mbit` has, by NODE:DEVICE, the mean of the span in Mbit/s, with what frames take of the wire beside their
    bytes; ports that sent next to nothing are not in it.
    """

    at_s: float
    sent_mbit: dict[str, float]


@dataclass(frozen=True)
class Mark:
    """What began `at_s` seconds after the run's begin: a scenario's step."""

    at_s: float
    what: str


@dataclass(frozen=True)
class Load:
    """A run's load: a sample each `every_s` seconds, but for the quiet ones, and what was played when."""

    every_s: float
    samples: list[Sample] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Keep it in a run's folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), separators=(",", ":")) + "\n", encoding="utf-8")


def read(folder: Path) -> Load:
    """The load of a run. BadInput where its folder has none, or none of this Causeway."""
    try:
        return _LOAD.validate_json((folder / FILE).read_bytes())
    except OSError:
        raise BadInput(f"{folder} has no {FILE}: name the folder of a run that a lab has played") from None
    except ValueError:
        raise BadInput(f"{folder / FILE}: this is no load of this Causeway; play the run again") from None


_LOAD = TypeAdapter(Load)

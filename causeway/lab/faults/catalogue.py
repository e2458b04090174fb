"""The faults by name, as trainees choose them: all that is said of one is read from its function."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args, get_type_hints

from causeway.errors import BadInput
from causeway.lab import faults
from causeway.lab.changes.change import Change
from causeway.lab.faults.parameters import Kind
from causeway.model.site import Site


@dataclass(frozen=True)
class Parameter:
    """One parameter of a fault."""

    name: str
    type: type
    kind: Kind


@dataclass(frozen=True)
class Fault:
    """A fault function, and what its docstring and its signature say."""

    change: Callable[..., Change]

    @property
    def name(self) -> str:
        return self.change.__name__

    @property
    def state(self) -> str:
        """What is wrong with the site while the fault is there."""
        return self._said["state"]

    @property
    def injected(self) -> str:
        return self._said["Injected"]

    @property
    def triggers(self) -> str:
        return self._said["Triggers"]

    @property
    def look(self) -> str:
        """How to look for its effect, without giving the fault away."""
        return self._said["Look"]

    @cached_property
    def parameters(self) -> list[Parameter]:
        hints = get_type_hints(self.change, include_extras=True)
        names = list(inspect.signature(self.change).parameters)[1:]  # the first is the lab
        return [Parameter(name, *get_args(hints[name])) for name in names]

    @cached_property
    def _said(self) -> dict[str, str]:
        text = inspect.cleandoc(self.change.__doc__ or "")
        first, *parts = re.split(r"^(Injected|Triggers|Look): ", text, flags=re.MULTILINE)
        said = {"state": first, **dict(zip(parts[::2], parts[1::2], strict=True))}
        return {name: _sentence(" ".join(words.split())) for name, words in said.items()}

    def as_data(self) -> dict[str, Any]:
        """For other tools (README, `fault list --json`)."""
        return {
            "name": self.name,
            "state": self.state,
            "parameters": [
                {"name": p.name, "type": p.type.__name__, "meaning": p.kind.meaning} for p in self.parameters
            ],
            "look": self.look,
        }

    def read(self, words: Sequence[str], site: Site) -> dict[str, Any]:
        """The values that words like node=nsd01 give. BadInput with every mistake in them, found without the lab."""
        wrong = [f"{word}: say PARAM=VALUE" for word in words if "=" not in word]
        given = dict(word.split("=", 1) for word in words if "=" in word)
        mine = {parameter.name: parameter for parameter in self.parameters}
        wrong += [f"{name}: {self.name} has no such parameter" for name in given if name not in mine]
        values: dict[str, Any] = {}
        for name, parameter in mine.items():
            try:
                values[name] = parameter.type(given[name])
            except KeyError:
                wrong.append(f"{name} is missing: {parameter.kind.meaning}")
            except ValueError:
                wrong.append(f"{name}: {given[name]!r} is no number: {parameter.kind.meaning}")
        for name, value in values.items():
            if said := mine[name].kind.wrong(site, value, values):
                wrong.append(f"{name}: {said}")
        if wrong:
            usage = " ".join([self.name, *(f"{name}=..." for name in mine)])
            raise BadInput("\n".join([*wrong, f"usage: causeway fault inject {usage}"]))
        return values


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


FAULTS = {name: Fault(getattr(faults, name)) for name in faults.__all__}


def find(name: str) -> Fault:
    """The fault of this name. BadInput with the names when there is none."""
    if name not in FAULTS:
        raise BadInput(f"there is no fault {name}; the faults are {', '.join(FAULTS)}")
    return FAULTS[name]

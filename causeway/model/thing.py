"""What every part of a site's file is made of: its base class, and the forms of single values."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StringConstraints
from pydantic_core import PydanticCustomError


class Thing(BaseModel):
    """A frozen part of a site's file that knows no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Port:
    """One end of a cable."""

    node: str
    device: str

    def __str__(self) -> str:
        return f"{self.node}:{self.device}"


#: What a port looks like in a file, for JSON schemas; nobody checks the format `port` but who knows it.
_PortText = Annotated[str, Field(pattern=r"^[^:\s]+:.+$", json_schema_extra={"format": "port"})]


def _port(value: Any) -> Any:
    """NODE:DEVICE, as containerlab writes a link's end."""
    if isinstance(value, Port):
        return value
    node, colon, device = value.partition(":") if isinstance(value, str) else ("", "", "")
    if not (colon and node.strip() == node != "" and device):
        raise PydanticCustomError("port", "Input should be NODE:DEVICE")
    return {"node": node, "device": device}


def listed(value: Any) -> Any:
    """One value stands for a list of one."""
    return value if isinstance(value, (list, tuple)) else [value]


#: As the kernel's dev_valid_name(): at most IFNAMSIZ - 1 characters.
DEVICE_LENGTH = 15
_DEVICE = r"[A-Za-z][A-Za-z0-9._-]{0,14}"
Device = Annotated[str, StringConstraints(pattern=rf"^{_DEVICE}$")]
NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$")]
HostName = NodeName
#: Short enough for the bridge br-NETWORK.
NetworkName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,11}$")]
ClusterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$")]
FilesystemName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
Domain = Annotated[str, StringConstraints(pattern=rf"^{_LABEL}(\.{_LABEL})+$", max_length=120)]
MountPoint = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$", max_length=200)]
#: A free word for the drawing, about which nothing else is known.
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]([A-Za-z0-9 _-]{0,30}[A-Za-z0-9])?$")]
#: NODE:DEVICE
EndPoint = Annotated[Port, BeforeValidator(_port, json_schema_input_type=_PortText)]
Mtu = Annotated[StrictInt, Field(ge=1280, le=9216)]
RateMbit = Annotated[StrictInt, Field(ge=1, le=100_000)]
#: How long a wire is, in milliseconds one way.
DelayMs = Annotated[float, Field(strict=True, ge=0, le=1000, allow_inf_nan=False)]
#: Of a disk: MB (10^6 bytes) a second, and what it takes to get to another place, in microseconds.
RateMb = Annotated[StrictInt, Field(ge=1, le=100_000)]
AccessUs = Annotated[StrictInt, Field(ge=0, le=1_000_000)]
#: A port's number in an InfiniBand fabric, as far as it stands for one port.
Lid = Annotated[StrictInt, Field(ge=1, le=0xBFFF)]
#: Of a cable: in both directions, or [from its first end to the second, and back].
Rate = Annotated[
    list[RateMbit],
    Field(min_length=1, max_length=2),
    BeforeValidator(
        listed, json_schema_input_type=RateMbit | Annotated[list[RateMbit], Field(min_length=1, max_length=2)]
    ),
]
#: Kernel tunables as sysctl(8) names them: of the network, for a node has no other of its own, and a native lab host's
#: are the machine's.
Sysctl = dict[
    Annotated[str, StringConstraints(pattern=r"^net(\.[A-Za-z0-9_-]+)+$", max_length=100)],
    StrictInt | Annotated[str, StringConstraints(pattern=r"^[!-~]([ -~\t]{0,200}[!-~])?$")],
]

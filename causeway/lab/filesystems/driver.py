"""What a lab asks of a filesystem's driver. Each driver is a module of these names, as it is in nodes/mc."""

from collections.abc import Callable
from typing import Protocol

from causeway.lab.lab import Lab
from causeway.plan.streams import End


class Driver(Protocol):
    """MOUNT_TYPE: what /proc/mounts calls a filesystem of this driver.

    ADMITTED: the file of the keys that a server accepts of clients, as nodes/mc has it.
    """

    MOUNT_TYPE: str
    ADMITTED: str

    def listening(self, lab: Lab, filesystem: str) -> dict[End, str]:
        """Where a filesystem's daemons listen for data -> the node that each is on; a node may have several."""

    def holders(self, lab: Lab, filesystem: str) -> dict[str, str]:
        """The name of each file at a filesystem's top -> the server that it lies on, where files are whole."""

    def unhealed(self, lab: Lab, filesystem: str) -> int:
        """How many entries its servers have yet to heal, of files and folders that some of them have missed."""

    def heal(self, lab: Lab, filesystem: str) -> None:
        """Have its servers begin to heal now; each looks by itself now and then."""

    def count_calls(self, lab: Lab, filesystem: str) -> Callable[[], None]:
        """Have the servers count what clients ask of them; what it returns ends that."""

    def made_files(self, lab: Lab, filesystem: str) -> int:
        """How often clients have asked the servers to make a file, as each server counts it, since it counts."""

    def together(self, lab: Lab, filesystem: str) -> bool:
        """Whether its servers, and who is asked to change it, are all connected with each other."""

    def mount_directly(self, lab: Lab, filesystem: str, node: str, at: str) -> str:
        """Mount it on a node by its own command, not by ours, with the key that the node shows.

        Returns "", or why it is not mounted: "refused: not granted", "refused in the handshake", or what was logged.
        """

    def calls(self, lab: Lab, filesystem: str) -> str:
        """What they have counted, as they say it themselves."""

"""What one command at a time may do on a machine: whoever comes meanwhile waits.

A folder that is there anyway is what they hold, so nothing is left behind, and the kernel takes it from the dead.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from causeway.errors import BadInput

#: A command holds it for seconds. Who holds it for longer hangs, or means ill: in /dev/shm it may be another user.
_PATIENCE_S = 60.0
_POLL_S = 0.02


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder, once nobody else does. BadInput where it cannot be had, or not within a minute."""
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(f"{folder}, which a lab host takes, cannot be opened: {error.strerror}") from None
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise BadInput(
                        f"another command has held {folder} for {_PATIENCE_S:g} s; `lslocks` says which, end that"
                    ) from None
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(held)

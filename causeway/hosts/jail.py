"""The jail of a lab's kernel: what it and all that it starts may reach of the machine. It takes no privilege.

Landlock bounds the files, the network and whom signals go to; the filter in `syscalls` bounds what else can be asked
of the machine's kernel; the capabilities that root would have are given up. None of it can be taken off again.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from causeway import folders
from causeway.hosts import syscalls

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_NO_NEW_PRIVS = 38
_CAPSET, _CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 126, 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1  # a flag of the first, a kind of rule of the second
_CAPABILITIES_3 = 0x20080522
_PR_CAPBSET_DROP, _DAC_OVERRIDE = 24, 1

# what Landlock knows to forbid with files, as <linux/landlock.h> has it
_EXECUTE, _WRITE, _READ, _LIST, _REMOVE_FOLDER, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_FOLDER, _MAKE_FILE, _TRUNCATE, _DEVICE_CONTROL = (1 << bit for bit in (7, 8, 14, 15))
#: How many of them a version of Landlock knows; the versions between have the number of the one before.
_KNOWN = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_FROM, _SCOPE_FROM = 4, 6  # the versions that bound TCP; abstract sockets and signals
_TCP, _SCOPE = 0b11, 0b11

_LOOK = _READ | _EXECUTE | _LIST
# No link, no FIFO, no socket, no device: whoever outside reads or writes there finds files and folders alone.
_CHANGE = _LOOK | _WRITE | _TRUNCATE | _MAKE_FOLDER | _MAKE_FILE | _REMOVE_FOLDER | _REMOVE_FILE
_TERMINAL = _READ | _WRITE | _DEVICE_CONTROL
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_CONTROL


def version() -> int:
    """The machine's version of Landlock; 0 where it has none, or does not use it."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, _VERSION)))


def lacks() -> str:
    """What this machine's jail does not hold back, in one line; nothing where it holds all."""
    found = version()
    if found == 0:
        return "no Landlock here (Linux 5.13 or later has it): who is root on a node reaches your files"
    if found < _SCOPE_FROM:
        return f"Landlock {found} here, not {_SCOPE_FROM} (Linux 6.12): a broken lab kernel could signal your processes"
    return ""


def own_programs(*files: Path) -> list[Path]:
    """What this Python needs to look at as it goes on: its own modules, the tool's, and these files."""
    system = {sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/etc/ld.so.cache"}
    tool = [folders.REPO / part for part in folders.INSIDE]
    return [place for place in (*map(Path, sorted(system)), *tool, *files) if place.exists()]


class Jail:
    """What may be reached: folders and files to look at, to list alone, and to change, and terminals.

    It is made before the process is, so that what is missing is told (FileNotFoundError); the process enters it
    between fork and exec.
    """

    def __init__(
        self,
        *,
        look: Iterable[Path] = (),
        names: Iterable[Path] = (),
        change: Iterable[Path | int] = (),
        terminals: Iterable[Path] = (),
    ) -> None:
        self._rules = -1
        self._filter = syscalls.program()
        found = version()
        if found == 0:
            return
        handled = (1 << next(bits for least, bits in reversed(_KNOWN.items()) if found >= least)) - 1
        tcp = _TCP if found >= _TCP_FROM else 0
        scope = _SCOPE if found >= _SCOPE_FROM else 0
        attributes = struct.pack("=QQQ", handled, tcp, scope)
        self._rules = _call(_CREATE_RULESET, attributes, len(attributes), 0)
        for paths, access in ((look, _LOOK), (names, _LIST), (change, _CHANGE), (terminals, _TERMINAL)):
            for path in paths:
                self._allow(path, access & handled)

    def _allow(self, path: Path | int, access: int) -> None:
        fd = os.dup(path) if isinstance(path, int) else os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(fd):
                access &= _OF_A_FILE
            _call(_ADD_RULE, self._rules, _PATH_BENEATH, struct.pack("=Qi", access, fd), 0)
        finally:
            os.close(fd)

    def enter(self) -> None:
        """Have this process be in it from now on, and all that it starts."""
        if _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0:
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _give_up_capabilities()
        if self._rules >= 0:
            _call(_RESTRICT_SELF, self._rules, 0)
        syscalls.allow_only(self._filter)


def _give_up_capabilities() -> None:
    """Root keeps one: to read and write what others own, as ever; the rules bound which files.

    They go from the bounding set, too. A program that would gain one as it starts is started with its addresses drawn,
    and then User-Mode Linux starts itself again, for ever. So where root may not do that, it keeps what it has.
    """
    root, capability = os.geteuid() == 0, 0
    while root and (capability == _DAC_OVERRIDE or _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0):
        capability += 1
    if root and capability == 0:
        return
    kept = 1 << _DAC_OVERRIDE if root else 0
    _call(_CAPSET, struct.pack("=Ii", _CAPABILITIES_3, 0), struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _call(number: int, *arguments: object) -> int:
    got = int(_LIBC.syscall(number, *arguments))
    if got < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"the jail, system call {number}: {os.strerror(error)}")
    return got

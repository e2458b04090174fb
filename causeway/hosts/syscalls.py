"""Which system calls a lab's kernel may make of the machine's, as a seccomp filter.

User-Mode Linux makes few. Left out is all that reaches past files and its own processes: sockets, mounts, name spaces,
keys, shared memory by name; and what Landlock does not see: a file's mode, owner, times and attributes. What is left
out is answered as by a kernel that does not have it. The guest's own system calls are not meant: its programs run under
a filter of the lab kernel's, which catches each of theirs, and the stricter of two filters has its way.
"""

import ctypes
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_SECCOMP, _SET_FILTER = 317, 1
_X86_64 = 0xC000003E
_ENOSYS = 38
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | _ENOSYS, 0x80000000

#: By their numbers on x86_64, the one machine that the lab kernel is built for.
_ALLOWED = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "select": 23, "sendfile": 40, "fcntl": 72,
    "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77, "getcwd": 79, "chdir": 80, "rename": 82,
    "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87, "symlink": 88, "readlink": 89, "umask": 95, "mknod": 133,
    "statfs": 137, "fstatfs": 138, "getdents64": 217, "fadvise64": 221, "openat": 257, "newfstatat": 262,
    "mkdirat": 258, "unlinkat": 263, "renameat": 264, "readlinkat": 267,
    "faccessat": 269, "pselect6": 270, "ppoll": 271, "fallocate": 285, "renameat2": 316, "statx": 332,
    "close_range": 436, "faccessat2": 439,
    "ioctl": 16, "pipe": 22, "dup": 32, "dup2": 33, "sendmsg": 46, "recvmsg": 47, "epoll_create": 213,
    "epoll_wait": 232, "epoll_ctl": 233, "epoll_pwait": 281, "signalfd4": 289, "eventfd2": 290, "epoll_create1": 291,
    "dup3": 292, "pipe2": 293, "memfd_create": 319,
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "madvise": 28,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "pause": 34, "getpid": 39,
    "fork": 57, "vfork": 58, "execve": 59, "exit": 60, "wait4": 61, "kill": 62, "ptrace": 101, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "setsid": 112,
    "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "sigaltstack": 131, "prctl": 157, "arch_prctl": 158, "gettid": 186,
    "tkill": 200, "futex": 202, "sched_getaffinity": 204, "set_tid_address": 218, "restart_syscall": 219,
    "exit_group": 231, "tgkill": 234, "waitid": 247, "set_robust_list": 273, "seccomp": 317, "execveat": 322,
    "rseq": 334,
    "nanosleep": 35, "setitimer": 38, "gettimeofday": 96, "getrusage": 98, "times": 100, "time": 201,
    "timer_create": 222, "timer_settime": 223, "timer_gettime": 224, "timer_getoverrun": 225, "timer_delete": 226,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
    "uname": 63, "personality": 135, "getrlimit": 97, "sysinfo": 99, "getrandom": 318,
}  # fmt: skip
_CLONE, _SOCKETPAIR, _UTIMENSAT, _PRLIMIT = 56, 53, 280, 302
_NAME_SPACES = 0x7E020000
_UNIX, _STREAM, _KIND_OF_SOCKET = 1, 1, 0xF

# words of the filter's machine, from <linux/bpf_common.h>; and where a call's number, machine and arguments stand
_LOAD, _AND, _EQUAL, _ANY_OF, _RETURN = 0x20, 0x54, 0x15, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16


def _word(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _half(argument: int, *, high: bool = False) -> bytes:
    return _word(_LOAD, _ARGUMENT + 8 * argument + (4 if high else 0))


def _when(number: int, *words: bytes) -> bytes:
    """What these words say of the call of this number; they load other words, so they must not go on after them."""
    return _word(_EQUAL, number, 0, len(words)) + b"".join(words)


def program() -> bytes:
    """The filter's words, one after the other."""
    allow, refuse = _word(_RETURN, _ALLOW), _word(_RETURN, _REFUSE)
    return b"".join(
        (
            _word(_LOAD, _MACHINE),
            _word(_EQUAL, _X86_64, 1, 0),
            _word(_RETURN, _KILL),
            _word(_LOAD, _NUMBER),
            *(_when(number, allow) for number in _ALLOWED.values()),
            # processes, but in no name space of their own
            _when(_CLONE, _half(0), _word(_ANY_OF, _NAME_SPACES, 1, 0), allow, refuse),
            # two ends of a stream, which can be connected to nothing else
            _when(
                _SOCKETPAIR,
                _half(0),
                _word(_EQUAL, _UNIX, 0, 4),
                _half(1),
                _word(_AND, _KIND_OF_SOCKET),
                _word(_EQUAL, _STREAM, 0, 1),
                allow,
                refuse,
            ),
            # the times of an open file (no path), for it was opened within bounds
            _when(
                _UTIMENSAT, _half(1), _word(_EQUAL, 0, 0, 3), _half(1, high=True), _word(_EQUAL, 0, 0, 1), allow, refuse
            ),
            # its own limits
            _when(_PRLIMIT, _half(0), _word(_EQUAL, 0, 0, 1), allow, refuse),
            refuse,
        )
    )


def allow_only(words: bytes) -> None:
    """Have this process, and all that it starts, make these calls alone; no_new_privs must be set."""
    text = ctypes.create_string_buffer(words, len(words))
    length = len(words) // 8
    header = struct.pack("@HP", length, ctypes.addressof(text))
    if _LIBC.syscall(_SECCOMP, _SET_FILTER, 0, header) < 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls")

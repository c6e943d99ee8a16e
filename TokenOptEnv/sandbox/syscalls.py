"""What a patch may ask of the kernel: to compute, to keep files in its folder, to tell the time. Nothing else.

Namespaces decide what a process can see; this decides what it can try. There is no call here that starts a process or
a program, opens a socket, mounts, traces, changes an identity or keeps something after the process has ended. A
call that is not listed fails as if the kernel did not have it, which is what libraries are prepared for.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from TokenOptEnv.errors import SandboxUnavailable


class _Machine(NamedTuple):
    audit: int
    """How the kernel names the architecture in a filter; another one means another table of numbers."""
    column: int


_MACHINES: Final = {"x86_64": _Machine(0xC000003E, 0), "aarch64": _Machine(0xC00000B7, 1)}

_ALLOWED: Final[dict[str, tuple[int | None, int | None]]] = {
    # memory and threads
    "brk": (12, 214),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "msync": (26, 227),
    "munmap": (11, 215),
    "futex": (202, 98),
    "get_robust_list": (274, 100),
    "getcpu": (309, 168),
    "gettid": (186, 178),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    # the process itself
    "exit": (60, 93),
    "exit_group": (231, 94),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getresgid": (120, 150),
    "getresuid": (118, 148),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getuid": (102, 174),
    "prlimit64": (302, 261),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "umask": (95, 166),
    "uname": (63, 160),
    "wait4": (61, 260),
    # signals: its own process is the only one there is
    "kill": (62, 129),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    # time and chance
    "alarm": (37, None),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "getitimer": (36, 102),
    "getrandom": (318, 278),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "pause": (34, None),
    "setitimer": (38, 103),
    "time": (201, None),
    # files, by name
    "access": (21, None),
    "chdir": (80, 49),
    "chmod": (90, None),
    "creat": (85, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fchdir": (81, 50),
    "fchmodat": (268, 53),
    "getcwd": (79, 17),
    "link": (86, None),
    "linkat": (265, 37),
    "lstat": (6, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "rmdir": (84, None),
    "stat": (4, None),
    "statfs": (137, 43),
    "statx": (332, 291),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "truncate": (76, 45),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    # files, once open
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_wait": (232, None),
    "eventfd2": (290, 19),
    "fallocate": (285, 47),
    "fchmod": (91, 52),
    "fcntl": (72, 25),
    "fdatasync": (75, 83),
    "flock": (73, 32),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "ioctl": (16, 29),
    "lseek": (8, 62),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "pselect6": (270, 72),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "read": (0, 63),
    "readv": (19, 65),
    "select": (23, None),
    "write": (1, 64),
    "writev": (20, 66),
}
_CLONE: Final = (56, 220)
"""Allowed for a thread alone; its newer form is not listed, and libraries fall back to this one."""
_CLONE_THREAD: Final = 0x0001_0000

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_AT_NUMBER, _AT_MACHINE, _AT_FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _KILL_PROCESS, _NO_SUCH_CALL = 0x7FFF_0000, 0x8000_0000, 0x0005_0000 | 38


def numbers(machine: str) -> dict[str, int]:
    """The calls that are allowed on this machine, by name."""
    column = _machine(machine).column
    return {name: number for name, row in _ALLOWED.items() if (number := row[column]) is not None}


def filter_program(machine: str) -> bytes:
    """The rules as the kernel takes them: one classic BPF program that looks at every call."""
    allowed = sorted(numbers(machine).values())
    about = _machine(machine)
    last = len(allowed)
    body = [_step(_EQUAL, number, yes=last - place + 3) for place, number in enumerate(allowed)]
    return b"".join(
        [
            _step(_LOAD, _AT_MACHINE),
            _step(_EQUAL, about.audit, yes=1),
            _step(_RETURN, _KILL_PROCESS),
            _step(_LOAD, _AT_NUMBER),
            *body,
            _step(_EQUAL, _CLONE[about.column], no=2),
            _step(_LOAD, _AT_FIRST_ARGUMENT),
            _step(_ANY_BIT, _CLONE_THREAD, yes=1),
            _step(_RETURN, _NO_SUCH_CALL),
            _step(_RETURN, _ALLOW),
        ]
    )


def _machine(machine: str) -> _Machine:
    if machine not in _MACHINES:
        raise SandboxUnavailable(f"its rules are written for {' and '.join(_MACHINES)}, not for {machine!r}")
    return _MACHINES[machine]


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; a jump says how many to skip."""
    return struct.pack("=HBBI", code, yes, no, value)

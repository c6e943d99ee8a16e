"""The side of the wall where patches run: a warm interpreter that forks for each and is never touched by any.

    zygote       starts a patch when it is told to, ends it when its time is up, reports how it ended
      +- patch   process 1 of its own world: takes its request, gives up every right, then runs it

The zygote reads neither requests nor answers. They go through pipes of their own, from the outside to the patch and
back, so that no patch can find in inherited memory what another one was given or said. When process 1 ends, the
kernel ends whatever else is in its world, and its folder is gone with it.

Imports the standard library alone, for nothing else is here.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import io
import json
import logging
import marshal
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from TokenOptEnv.sandbox.frames import framed, read_frame, write_all
from TokenOptEnv.sandbox.limits import SandboxLimits
from TokenOptEnv.task_defs.execution_child import find_in, run_calls

FOLDER: Final = "/build"
"""Where the package lies; the path that recorded reports name, so nothing needs to be replaced in what is said."""
READY, BEGUN = b"ready", b"begun"
START, STOP = b"+", b"-"
_REQUESTS, _REPORTS, _FAULTS = 0, 1, 2
_HELLO_BYTES: Final = 65_536
_PIPE_BYTES: Final = 65_536
_WARM: Final = (
    "bisect",
    "collections.abc",
    "dataclasses",
    "hashlib",
    "heapq",
    "math",
    "textwrap",
    "urllib.parse",
    "zlib",
)
"""What packages import most; the rest of the standard library is loaded when it is asked for."""
_NEW_MOUNTS, _NEW_PROCESSES = 0x0002_0000, 0x2000_0000
_PRIVATE_EVERYWHERE: Final = 0x4000 | 0x4_0000
_NO_PROGRAMS: Final = 2 | 4 | 8
"""No set-user-id, no devices, nothing executable."""
_SET_FILTER, _FILTER_MODE, _NO_NEW_RIGHTS = 22, 2, 38
_CAPABILITY_VERSION: Final = 0x2008_0522
_CLONE: Final = {"x86_64": 56, "aarch64": 220}


@dataclass(frozen=True, slots=True)
class Orders:
    """What the outside wants of this zygote, once and for all."""

    control: int
    """`START` and `STOP`, a byte each."""
    answers: int
    user: int
    changes_user: bool
    """Whether the zygote has the right to become that user; else it is that user already."""
    filter: bytes
    """What may be asked of the kernel, as the kernel takes it."""
    limits: SandboxLimits

    def encoded(self) -> bytes:
        return marshal.dumps(asdict(self))

    @classmethod
    def decoded(cls, data: bytes) -> Orders:
        named = marshal.loads(data)
        return cls(**{**named, "limits": SandboxLimits(**named["limits"])})


class Report(NamedTuple):
    """How a patch ended, as far as that can be seen from outside of it."""

    in_time: bool
    cpu_s: float
    """Of the patch, and of the zygote for it."""

    def encoded(self) -> bytes:
        return marshal.dumps(tuple(self))

    @classmethod
    def decoded(cls, data: bytes) -> Report:
        return cls(*marshal.loads(data))


def main() -> None:
    orders = Orders.decoded(read_frame(_REQUESTS, _HELLO_BYTES))
    for name in _WARM:
        import_module(name)
    warnings.simplefilter("ignore")
    logging.captureWarnings(False)
    kernel = _Kernel()
    gc.collect()
    gc.freeze()
    write_all(_REPORTS, framed(READY))
    while order := os.read(orders.control, 1):
        if order == STOP:  # it came too late: what it was meant for had ended by itself
            continue
        began_s = time.process_time()
        patch = kernel.fork_into_new_world()
        if patch == 0:
            _leave_after(orders, kernel)
        write_all(_REPORTS, framed(_watched(patch, orders, began_s).encoded()))


def _watched(patch: int, orders: Orders, began_s: float) -> Report:
    life = os.pidfd_open(patch)
    poll = select.poll()
    poll.register(life, select.POLLIN)
    poll.register(orders.control, select.POLLIN)
    seen = {descriptor for descriptor, _ in poll.poll(orders.limits.wall_s * 1_000)}
    os.close(life)
    if life not in seen:
        os.kill(patch, signal.SIGKILL)
    if orders.control in seen:
        os.read(orders.control, 1)
    _, status, used = os.wait4(patch, 0)
    cpu_s = used.ru_utime + used.ru_stime
    in_time = bool(seen) and not _ran_out(status, cpu_s, orders.limits)
    return Report(in_time, cpu_s + time.process_time() - began_s)


def _ran_out(status: int, cpu_s: float, limits: SandboxLimits) -> bool:
    """Nobody in its world can kill process 1; the kernel does, when memory is short or processor time is used up.

    Which of the two follows from the time it had, which is counted more coarsely than it is limited.
    """
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and cpu_s > limits.cpu_s / 2


class _Kernel:
    """The few calls that Python has no name for."""

    def __init__(self) -> None:
        self._libc = ctypes.PyDLL(None, use_errno=True)

    def fork_into_new_world(self) -> int:
        """`os.fork`, with mounts and processes of the child's own: one fork instead of two and a change of worlds.

        Objects that outlive a process (System V, message queues) need calls that the filter does not have.
        """
        flags = ctypes.c_long(_NEW_MOUNTS | _NEW_PROCESSES | signal.SIGCHLD)
        nothing = ctypes.c_long(0)
        self._libc.PyOS_BeforeFork()
        child: int = self._libc.syscall(
            ctypes.c_long(_CLONE[platform.machine()]), flags, nothing, nothing, nothing, nothing
        )
        fault = _fault("clone")
        if child == 0:
            self._libc.PyOS_AfterFork_Child()
        else:
            self._libc.PyOS_AfterFork_Parent()
        if child < 0:
            raise fault
        return child

    def mount_folder(self, orders: Orders) -> None:
        self._done(self._libc.mount(None, b"/", None, ctypes.c_ulong(_PRIVATE_EVERYWHERE), None), "mount /")
        size, files, user = orders.limits.folder_bytes, orders.limits.folder_files, orders.user
        options = f"size={size},nr_inodes={files},mode=700,uid={user},gid={user}"
        flags = ctypes.c_ulong(_NO_PROGRAMS)
        self._done(self._libc.mount(b"tmpfs", FOLDER.encode(), b"tmpfs", flags, options.encode()), "mount tmpfs")

    def give_up_rights(self) -> None:
        header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
        self._done(self._libc.capset(header, bytes(24)), "capset")
        self._done(self._prctl(_NO_NEW_RIGHTS, 1), "no new privileges")

    def obey(self, program: bytes) -> None:
        held = ctypes.create_string_buffer(program, len(program))
        rules = struct.pack("@HP", len(program) // 8, ctypes.addressof(held))
        self._done(self._prctl(_SET_FILTER, _FILTER_MODE, rules), "seccomp")

    def _prctl(self, option: int, value: int, pointer: bytes | None = None) -> int:
        nothing = ctypes.c_ulong(0)
        result: int = self._libc.prctl(option, ctypes.c_ulong(value), pointer, nothing, nothing)
        return result

    @staticmethod
    def _done(result: int, what: str) -> None:
        if result != 0:
            raise _fault(what)


def _fault(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


# The patch


def _leave_after(orders: Orders, kernel: _Kernel) -> None:
    """Whatever happens, a patch never runs on into the zygote's code."""
    try:
        _run_patch(orders, kernel)
    except BaseException as fault:
        os.write(_FAULTS, f"{type(fault).__name__}: {fault}\n".encode())
    finally:
        os._exit(0)


def _run_patch(orders: Orders, kernel: _Kernel) -> None:
    """All of this is ours and trusted, up to `_answer`; what comes after that may have been taken over by the patch.

    It says when it has begun: what goes wrong before is no fault of the patch.
    """
    limits = orders.limits
    kernel.mount_folder(orders)
    request = read_frame(_REQUESTS, limits.request_bytes)
    null = os.open(os.devnull, os.O_RDWR)
    if orders.changes_user:
        os.setgroups([])
        os.setresgid(orders.user, orders.user, orders.user)
        os.setresuid(orders.user, orders.user, orders.user)
    kernel.give_up_rights()
    os.chdir(FOLDER)
    os.umask(0o077)
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.threads),
    ):
        resource.setrlimit(kind, (most, most))
    fcntl.fcntl(orders.answers, fcntl.F_SETFL, 0)  # an earlier patch may have changed how its pipe behaves
    fcntl.fcntl(orders.answers, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    kernel.obey(orders.filter)
    write_all(_REPORTS, framed(BEGUN))
    for standard in (_REQUESTS, _REPORTS, _FAULTS):
        os.dup2(null, standard)
    answers = os.dup2(orders.answers, _FAULTS + 1)
    os.closerange(answers + 1, 1_024)
    write_all(answers, framed(_answer(marshal.loads(request))))


def _answer(request: Any) -> bytes:
    for folder in sorted({path.rpartition("/")[0] for path in request["files"]}):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for path, data in request["files"].items():
        Path(path).write_bytes(data)
    sys.stdout = io.StringIO()
    sys.path[:] = [entry for entry in sys.path if entry.startswith(sys.prefix)]
    find_in(Path(FOLDER), request["roots"])
    return json.dumps(run_calls(request["calls"])).encode()


if __name__ == "__main__":
    main()

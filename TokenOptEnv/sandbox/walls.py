"""The outer wall: the command that puts the zygote where there is nothing but an interpreter.

A file system with those files read-only, no network, no other processes, nothing of our environment, an end together
with whoever started it. The inner wall, around each patch, is the zygote's (`zygote`).
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final, NamedTuple

from TokenOptEnv.errors import SandboxUnavailable
from TokenOptEnv.sandbox import frames, limits, zygote
from TokenOptEnv.sandbox.interpreter import Interpreter, bare_interpreter
from TokenOptEnv.task_defs import execution_child

_RUNNER: Final = "/runner"
_INSIDE: Final = (zygote, frames, limits, execution_child)
"""The modules that run inside."""
_NOBODY: Final = 65_534
_FIRST_USER, _USERS = 61_184, 4_000
"""Numbers that nobody owns: each sandbox of a machine's root takes one of its own, so that limits count apart."""
_ROOT_RIGHTS: Final = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL")
_INSTALLED: Final = ("site-packages", "dist-packages")


class Wall(NamedTuple):
    command: tuple[str, ...]
    user: int
    changes_user: bool


def wall() -> Wall:
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(f"it is made of Linux namespaces, and this is {sys.platform}")
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise SandboxUnavailable("there is no program bwrap; install bubblewrap")
    inside = bare_interpreter()
    is_root = os.geteuid() == 0
    user = _FIRST_USER + os.getpid() % _USERS if is_root else _NOBODY
    rights = ["--cap-drop", "ALL"]
    for right in _ROOT_RIGHTS if is_root else _ROOT_RIGHTS[:1]:
        rights += ["--cap-add", right]
    identity = [] if is_root else ["--unshare-user", "--uid", str(user), "--gid", str(user)]
    command = [
        *(bubblewrap, "--die-with-parent", "--new-session"),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", "sandbox"),
        *identity,
        *rights,
        *_files(inside),
        *_environment(inside),
        *("--chdir", "/", "--"),
        *(inside.program, "-s", "-S", "-P", "-B", "-X", "utf8", "-m", zygote.__name__),
    ]
    return Wall(tuple(command), user, is_root)


def _environment(inside: Interpreter) -> list[str]:
    """As in `execution`, so that what was recorded there is seen here; and where shared objects lie."""
    folders = dict.fromkeys(str(Path(name).parent) for name in inside.objects)
    values = {"LD_LIBRARY_PATH": ":".join(folders), "PYTHONHASHSEED": "0", "PYTHONPATH": _RUNNER, "TZ": "UTC"}
    return [word for name, value in values.items() for word in ("--setenv", name, value)]


def _files(inside: Interpreter) -> list[str]:
    places = {folder: folder for folder in inside.folders}
    places |= {name: os.path.realpath(name) for name in (inside.program, *inside.objects)}
    for module in _INSIDE:
        assert module.__file__ is not None
        places[f"{_RUNNER}/{module.__name__.replace('.', '/')}.py"] = module.__file__
    options: list[str] = []
    for folder in sorted({str(above) for place in places for above in Path(place).parents} - {"/"}):
        options += ["--dir", folder]  # named, they may be entered by whom the zygote becomes; else by their maker alone
    for place, source in places.items():
        options += ["--ro-bind", source, place]
    for folder in inside.folders:
        for installed in _INSTALLED:
            if (Path(folder) / installed).is_dir():
                options += ["--tmpfs", f"{folder}/{installed}", "--remount-ro", f"{folder}/{installed}"]
    options += ["--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null", "--dir", zygote.FOLDER]
    return [*options, "--remount-ro", "/"]

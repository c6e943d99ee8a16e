"""Attempts to get out of the sandbox, to stay in it, to look around in it, or to wear it out.

One sandbox takes them all: each shows that those before it left nothing behind.
"""

from __future__ import annotations

import os
import socket
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import sandboxed
from TokenOptEnv.errors import SandboxUnavailable
from TokenOptEnv.sandbox import End, Ran, Sandbox, SandboxLimits
from TokenOptEnv.task_defs.execution import Call

GO = Call("attack", "go")
SECRET = "a-name-that-only-the-tests-know"
MEMORY_SEARCH = sandboxed.MEMORY_SEARCH.replace("\n", "\n" + " " * 8)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    os.environ["CAMRE_TEST_SECRET"] = SECRET
    try:
        with sandboxed.opened() as sandbox:
            yield sandbox
    finally:
        del os.environ["CAMRE_TEST_SECRET"]


def run(box: Sandbox, code: str, *calls: Call) -> Ran:
    return box.run({"attack.py": textwrap.dedent(code)}, calls or (GO,))


def seen(box: Sandbox, code: str) -> str:
    """What the attack saw, as it tells it."""
    ran = run(box, code)
    assert ran.end is End.ANSWERED
    (outcome,) = ran.outcomes
    return outcome.values[0]


def raises(box: Sandbox, code: str) -> bool:
    return seen(box, code).startswith("raises ")


# --- starting processes and programs


def test_a_fork_bomb_does_not_get_to_its_first_fork(box: Sandbox) -> None:
    assert seen(box, "import os\ndef go():\n while True: os.fork()") == "raises OSError"


@pytest.mark.parametrize(
    "attempt",
    [
        "os.vfork() if hasattr(os, 'vfork') else os.fork()",
        "os.execv(sys.executable, [sys.executable])",
        "os.posix_spawn(sys.executable, [sys.executable], {})",
        "subprocess.run([sys.executable, '-c', ''])",
        "multiprocessing.Process(target=print).start()",
        "os.forkpty()",
    ],
)
def test_no_process_and_no_program_can_be_started(box: Sandbox, attempt: str) -> None:
    assert raises(box, f"import os, sys, subprocess, multiprocessing\ndef go(): return {attempt}")


def test_a_thread_works_and_a_bomb_of_them_is_bounded(box: Sandbox) -> None:
    code = """
        import threading, time
        def go():
            stop = threading.Event()
            started = 0
            try:
                while started < 5_000:
                    threading.Thread(target=stop.wait, daemon=True).start()
                    started += 1
            except RuntimeError:
                return started
            finally:
                stop.set()
    """
    assert 1 <= int(seen(box, code)) < 200


# --- calls that Python does not offer, straight to the kernel

FORBIDDEN = {
    "x86_64": [41, 57, 58, 101, 165, 272, 308, 310, 319, 321, 425, 435, 250, 29],
    "aarch64": [198, 117, 40, 97],
}


def test_the_kernel_refuses_what_only_a_break_out_needs(box: Sandbox) -> None:
    """socket, fork, vfork, ptrace, mount, unshare, setns, process_vm_readv, memfd_create, bpf, io_uring, clone3, ..."""
    numbers = FORBIDDEN[os.uname().machine]
    code = f"""
        import ctypes
        def go():
            libc = ctypes.CDLL(None, use_errno=True)
            def tried(number):
                ctypes.set_errno(0)
                return libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()
            return [tried(number) for number in {numbers}]
    """
    assert seen(box, code) == str([(-1, 38)] * len(numbers))


def test_a_thread_may_be_cloned_and_nothing_else(box: Sandbox) -> None:
    clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    code = f"""
        import ctypes, signal
        def go():
            libc = ctypes.CDLL(None)
            return [libc.syscall({clone}, flags | signal.SIGCHLD, 0, 0, 0, 0) for flags in (0, 0x10000000, 0x4000)]
    """
    assert seen(box, code) == "[-1, -1, -1]"


def test_rights_and_limits_that_were_given_up_do_not_come_back(box: Sandbox) -> None:
    code = """
        import os, resource
        def tried(work):
            try:
                work()
            except (OSError, ValueError):
                return True
        def go():
            ids = {*os.getresuid(), *os.getresgid()}
            more = [resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE]
            return (
                0 not in ids and len(ids) == 1 and os.getgroups() == [] or os.getgroups(),
                tried(lambda: os.setuid(0)),
                [tried(lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)) for kind in more],
            )
    """
    assert seen(box, code) == "(True, True, [True, True, True, True])"


# --- the network


def test_a_listener_on_the_machine_cannot_be_reached(box: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code = f"import socket\ndef go(): return socket.create_connection(('127.0.0.1', {port}), 1)"
        assert raises(box, code)
        listener.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listener.accept()


# --- other files


def test_there_is_an_interpreter_and_nothing_else_to_read(box: Sandbox) -> None:
    code = """
        import os, sys
        def go():
            library = os.path.dirname(os.__file__)
            found = []
            for folder, folders, files in os.walk('/'):
                if folder.startswith(library) and '-packages' not in folder:
                    continue
                found += [os.path.join(folder, name) for name in files]
            return ' '.join(sorted(found))
    """
    files = seen(box, code).strip("'").split(" ")
    rest = [path for path in files if ".so" not in Path(path).name and path != os.path.realpath(sys.executable)]
    assert sorted(rest) == [
        "/build/attack.py",
        "/dev/null",
        "/runner/TokenOptEnv/sandbox/frames.py",
        "/runner/TokenOptEnv/sandbox/limits.py",
        "/runner/TokenOptEnv/sandbox/zygote.py",
        "/runner/TokenOptEnv/task_defs/execution_child.py",
    ]


@pytest.mark.parametrize(
    "module", ["pydantic", "TokenOptEnv.task_defs.bugfix", "TokenOptEnv.scenario_store", "pip", "setuptools"]
)
def test_no_installed_package_is_there_least_of_all_the_one_with_the_answers(box: Sandbox, module: str) -> None:
    assert seen(box, f"def go():\n import {module}") == "raises ModuleNotFoundError"


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/mem", "/proc/1/environ", "/sys/kernel", "/tmp", __file__])
def test_what_the_machine_has_is_not_there(box: Sandbox, path: str) -> None:
    assert seen(box, f"import os\ndef go(): return os.stat({path!r})") == "raises FileNotFoundError"


@pytest.mark.parametrize(
    "path", ["/x", "/runner/x", "/dev/x", "/build/../x", f"{Path(os.__file__).parent}/x.py", "/dev/shm/x"]
)
def test_nothing_can_be_written_outside_of_the_folder(box: Sandbox, path: str) -> None:
    assert raises(box, f"def go(): return open({path!r}, 'w')")


def test_the_standard_library_and_the_runner_cannot_be_changed(box: Sandbox) -> None:
    code = """
        import os
        def tried(work):
            try:
                work()
            except OSError:
                return True
        def go():
            target = os.__file__
            runner = '/runner/TokenOptEnv/sandbox/zygote.py'
            return [
                tried(lambda: open(target, 'a')),
                tried(lambda: os.unlink(target)),
                tried(lambda: os.rename('attack.py', target)),
                tried(lambda: os.chmod(target, 0o777)),
                tried(lambda: os.link(target, 'here')),
                tried(lambda: open(runner, 'a')),
                tried(lambda: os.unlink(runner)),
            ]
    """
    assert seen(box, code) == str([True] * 7)


def test_a_link_leads_nowhere_that_is_not_there_already(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    code = f"""
        import os
        def go():
            os.symlink({str(secret)!r}, 'door')
            os.symlink('/../../../..{secret}', 'back-door')
            os.symlink('/', 'root')
            return [os.path.exists(name) for name in ('door', 'back-door', 'root{secret}', 'root/etc')]
    """
    assert seen(box, code) == "[False, False, False, False]"
    assert secret.read_text() == SECRET


def test_the_environment_holds_nothing_of_ours(box: Sandbox) -> None:
    code = "import os\ndef go(): return (sorted(os.environ), 'CAMRE' in str(os.environb))"
    assert seen(box, code) == "(['LD_LIBRARY_PATH', 'PWD', 'PYTHONHASHSEED', 'PYTHONPATH', 'TZ'], False)"


# --- other processes


def test_there_is_nobody_else_to_signal(box: Sandbox) -> None:
    code = """
        import os, signal
        def tried(number):
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                return 'nobody'
        def go():
            return os.getpid(), os.getppid(), {tried(number) for number in (-1, *range(2, 400), os.getppid() or 7)}
    """
    assert seen(box, code) == "(1, 0, {'nobody'})"


def test_no_pipe_but_its_own_is_open(box: Sandbox) -> None:
    code = """
        import os
        def is_open(number):
            try:
                os.fstat(number)
            except OSError:
                return False
            return True
        def go():
            return [number for number in range(1_000) if is_open(number)], os.read(0, 1)
    """
    assert seen(box, code) == "([0, 1, 2, 3], b'')"


# --- forging an answer


def test_whoever_replaces_the_runner_gains_nothing(box: Sandbox) -> None:
    """It can say what it likes, and what it says is compared with what it was never told."""
    code = """
        import builtins, json
        builtins.repr = lambda thing: 'one'
        def go(number):
            if number == 2:
                json.JSONEncoder.encode = lambda *ignored: '[["forged"], ["forged"]]'
            return number
    """
    calls = [Call("attack", "go", (number,)) for number in (1, 2, 3)]
    for count, values in ((1, ["one"]), (2, ["forged", "forged"]), (3, [])):
        ran = run(box, code, *calls[:count])
        assert ran.end is End.ANSWERED
        assert [outcome.values[0] for outcome in ran.outcomes] == values


@pytest.mark.parametrize(
    "written",
    [
        "b''",
        "b'\\x00'",
        "b'\\xff\\xff\\xff\\xff'",
        "b'\\x00\\x00\\x00\\x02[]' * 2",
        "b'\\x00\\x00\\x00\\x09[[\"1\"]]'",
        'b\'\\x00\\x00\\x00\\x0d[["1"],["2"]]\'',
        "b'\\x00\\x00\\x00\\x05[[1]]'",
        "b'\\x00\\x00\\x00\\x04null'",
        "b'\\x00\\x00\\x00\\x02\\xff\\xfe'",
        "len(nested).to_bytes(4, 'big') + nested",
        "len(digits).to_bytes(4, 'big') + digits",
    ],
)
def test_what_is_not_an_answer_is_none_however_it_came_about(box: Sandbox, written: str) -> None:
    code = f"""
        import os
        nested, digits = b'[' * 100_000, b'[[' + b'9' * 10_000 + b']]'
        def go():
            os.write(3, {written})
            os._exit(0)
    """
    ran = run(box, code)
    assert ran.end in (End.SILENT, End.ANSWERED) and ran.outcomes == ()


def test_an_answer_with_something_behind_it_is_none(box: Sandbox) -> None:
    code = "import os\ndef go():\n os.write(3, b'\\x00\\x00\\x00\\x07[[\"1\"]]')\n return 1"
    assert run(box, code).outcomes == ()


@pytest.mark.parametrize(
    "last_words",
    [
        "os._exit(0)",
        "sys.exit(0)",
        "os.abort()",
        "ctypes.string_at(0)",
        "os.close(3)",
        "(sys.setrecursionlimit(10**9), repr(Deep()))",
    ],
)
def test_whoever_ends_the_process_has_not_answered(box: Sandbox, last_words: str) -> None:
    deep = "class Deep:\n def __repr__(self): return repr(self)"
    ran = run(box, f"import ctypes, os, sys\n{deep}\ndef go(): return {last_words}")
    assert (ran.end, ran.outcomes) == (End.SILENT, ())


# --- wearing it out


@pytest.mark.parametrize(
    "endless",
    [
        "while True: pass",
        "time.sleep(60)",
        "while True:\n  try:\n   while True: pass\n  except BaseException: pass",
        "[signal.signal(n, signal.SIG_IGN) for n in (signal.SIGXCPU, signal.SIGTERM)]\n while True: pass",
        "return 9 ** 9 ** 9",
        "os.close(3)\n while True: pass",
    ],
)
def test_whatever_does_not_end_is_ended_and_called_late(box: Sandbox, endless: str) -> None:
    ran = run(box, f"import os, signal, time\ndef go():\n {endless}")
    assert (ran.end, ran.outcomes) == (End.LATE, ())


def test_memory_is_bounded(box: Sandbox) -> None:
    assert seen(box, "def go(): return bytearray(10**10)") == "raises MemoryError"
    assert seen(box, "def go():\n held = []\n while True: held.append(bytearray(10**6))") == "raises MemoryError"


@pytest.mark.parametrize("written", ["open('big', 'wb').write(bytes(10**8))", "[filled(n) for n in range(100)]"])
def test_the_folder_cannot_be_overfilled(box: Sandbox, written: str) -> None:
    code = f"""
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        def filled(number):
            with open(str(number), 'wb') as file:
                file.write(bytes(10**6))
        def go(): return {written}
    """
    assert seen(box, code) == "raises OSError"


def test_the_number_of_files_is_bounded(box: Sandbox) -> None:
    assert seen(box, "def go():\n for n in range(5_000): open(str(n), 'w').close()") == "raises OSError"
    assert seen(box, "def go(): return [open('attack.py') for n in range(5_000)]") == "raises OSError"


@pytest.mark.parametrize(
    "flood", ["return 'x' * 10**7", "while True: os.write(3, bytes(10**5))", "os.write(3, b'\\x7f' * 2 * 10**6)"]
)
def test_more_is_said_than_is_read(box: Sandbox, flood: str) -> None:
    ran = run(box, f"import os\ndef go():\n {flood}")
    assert (ran.end, ran.outcomes) == (End.TOO_LONG, ())


def test_what_is_printed_is_nobodys_business(box: Sandbox) -> None:
    code = """
        import os, sys
        def go():
            print('x' * 10**6)
            sys.stderr.write('x' * 10**6)
            os.write(1, b'x' * 10**6)
            os.write(2, b'x' * 10**6)
            return 'quiet'
    """
    assert seen(box, code) == "'quiet'"


# --- staying


def test_a_file_is_gone_with_the_patch_that_wrote_it(box: Sandbox) -> None:
    code = "import os\ndef go():\n open('left', 'w').close()\n return sorted(os.listdir('.'))"
    first = seen(box, code)
    assert "left" in first
    assert seen(box, code) == first


def test_a_change_to_the_interpreter_is_gone_with_it_too(box: Sandbox) -> None:
    code = """
        import math, sys
        def go():
            known = getattr(math, 'visits', 0), len(sys.path), 'attack_twice' in sys.modules
            math.visits = 1
            sys.path.append('/left')
            sys.modules['attack_twice'] = math
            return known
    """
    assert seen(box, code) == seen(box, code)


def test_the_pipe_is_as_new_for_each(box: Sandbox) -> None:
    code = """
        import fcntl, os
        def go():
            known = fcntl.fcntl(3, fcntl.F_GETFL), fcntl.fcntl(3, fcntl.F_GETPIPE_SZ)
            fcntl.fcntl(3, fcntl.F_SETFL, os.O_NONBLOCK | os.O_DIRECT | os.O_APPEND)
            fcntl.fcntl(3, fcntl.F_SETPIPE_SZ, 4096)
            return known, 'x' * 200_000
    """
    first = seen(box, code)
    assert first.startswith(f"(({os.O_WRONLY}, 65536), 'xxx")
    assert seen(box, code) == first


def test_nothing_of_an_earlier_patch_lies_in_the_memory_of_a_later_one(box: Sandbox) -> None:
    """Else whoever is judged second reads the answers of whoever passed first. The search is shown to find things."""
    earlier = """
        kept = ['left-' + 'by-an-earlier' + str(n) for n in range(20_000)]
        def go(): return kept[:999]
    """
    looking = f"""
        {MEMORY_SEARCH}
        def go():
            mine = ['left-' + 'by-me' + str(n) for n in range(9)]
            return found(b'left-by-an-earlie[r]'), found(b'left-by-m[e]'), len(mine)
    """
    for _ in range(3):
        assert "left-by-an-earlier" in seen(box, earlier)
        assert seen(box, looking) == "(False, True, 9)"


def test_a_thread_that_is_still_running_ends_with_the_answer(box: Sandbox) -> None:
    code = "import threading, time\ndef go():\n threading.Thread(target=time.sleep, args=(60,)).start()\n return 1"
    ran = run(box, code)
    assert (ran.end, ran.outcomes[0].values) == (End.ANSWERED, ("1",))


def test_each_patch_has_its_own_limits() -> None:
    with sandboxed.opened(SandboxLimits(memory_bytes=600 * 1024 * 1024)) as roomy:
        assert seen(roomy, "def go(): return len(bytearray(300 * 1024 * 1024))") == str(300 * 1024 * 1024)


def test_a_zygote_that_was_lost_is_replaced(box: Sandbox) -> None:
    """It ends with the thread that started it, and a server's threads come and go."""
    with Sandbox(sandboxed.QUICK) as other:
        starter = threading.Thread(target=other.run, args=({}, [Call("os", "getpid")]))
        starter.start()
        starter.join()
        assert seen(other, "def go(): return 1") == "1"
        assert seen(other, "def go(): return 2") == "2"


def test_threads_take_turns(box: Sandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        numbers = range(12)
        assert list(pool.map(lambda n: seen(box, f"def go(): return {n}"), numbers)) == [str(n) for n in numbers]


def test_a_stop_that_comes_too_late_does_not_start_anything(box: Sandbox) -> None:
    """A patch that says too much and ends at once is stopped when it may be over already."""
    for _ in range(10):
        assert run(box, "import os\ndef go():\n os.write(3, bytes(1_100_000))\n os._exit(0)").end is End.TOO_LONG
    assert seen(box, "def go(): return 1") == "1"


def test_closing_ends_it_and_the_next_request_starts_another() -> None:
    with sandboxed.opened() as sandbox:
        sandbox.close()
        sandbox.close()
        assert seen(sandbox, "def go(): return 1") == "1"


@pytest.mark.usefixtures("box")
def test_what_goes_wrong_before_a_patch_begins_is_not_its_crash() -> None:
    """A folder that cannot be mounted, a request that cannot be taken: an error here, never a verdict on a patch."""
    with (
        Sandbox(SandboxLimits(folder_bytes=-1)) as unmountable,
        pytest.raises(SandboxUnavailable, match="mount tmpfs: Invalid argument"),
    ):
        run(unmountable, "def go(): return 1")
    with Sandbox(SandboxLimits(request_bytes=2_000)) as narrow:
        assert seen(narrow, "def go(): return 1") == "1"
        with pytest.raises(SandboxUnavailable):
            run(narrow, f"def go(): return {'1' * 2_000}")
        assert seen(narrow, "def go(): return 2") == "2"

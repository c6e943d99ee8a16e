"""The step that installs the test tools with pip."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog, coloured

_INDEX = "https://wheels.forge.example/simple"
_BAR = "━" * 24
_COMPILED = ("coverage", "markupsafe")


def install(log: JobLog, path: str, requirements: str, cached: bool = True, timeouts: int = 0) -> None:
    """`requirements` is the text of the file at `path`; `timeouts`: reads that pip had to repeat."""
    pins = [line.split("==") for line in requirements.split()]
    log.open("Install dependencies")
    log.command(f"python -m pip install --no-deps -r {path}")
    log.say(f"Looking in indexes: {_INDEX}")
    for number, (name, version) in enumerate(pins, start=1):
        size_kb = Stream("ci", "wheel", name, version).integer(12, 640)
        log.wait(20, 240)
        log.say(f"Collecting {name}=={version} (from -r {path} (line {number}))")
        if timeouts and number == len(pins) // 2:
            for left in range(4, 4 - timeouts, -1):
                log.wait(15_000, 15_090)
                log.say(_retry(left, f"ReadTimeoutError('Read timed out. (read timeout=15)')': /simple/{name}/"))
        if cached:
            log.say(f"  Using cached {_wheel(name, version)} ({size_kb} kB)")
        else:
            rate = f"{log.stream.random() * 30 + 2:.1f} MB/s"
            log.say(f"  Downloading {_wheel(name, version)} ({size_kb} kB)")
            log.say(f"     {_BAR} {size_kb}.0/{size_kb}.0 kB {rate} eta 0:00:00")
    log.say(f"Installing collected packages: {', '.join(name for name, _ in pins)}")
    log.wait(700, 2_600)
    log.say(f"Successfully installed {' '.join(f'{name}-{version}' for name, version in pins)}")
    if log.stream.chance(0.5):
        log.say(f"{coloured('34', '[notice]')} A new release of pip is available: 25.1.1 -> 25.2")
    log.close()


def quiet_install(log: JobLog, path: str, requirements: str, timeouts: int = 0) -> None:
    """`pip install --quiet`, and a listing of what is there afterwards."""
    pins = requirements.split()
    log.open("Install dependencies")
    log.command(f"python -m pip install --quiet --no-deps -r {path}")
    for left in range(4, 4 - timeouts, -1):
        log.wait(15_000, 15_090)
        name = pins[len(pins) // 2].partition("==")[0]
        log.say(_retry(left, f"ReadTimeoutError('Read timed out. (read timeout=15)')': /simple/{name}/"))
    log.wait(900, 4_000)
    log.say(f"installed: {' '.join(pins)}")
    log.close()


def install_breaks_off(log: JobLog, path: str, requirements: str) -> None:
    """The index stays away for all of pip's tries: the job ends before any test is collected."""
    name, version = requirements.split()[0].split("==")
    log.open("Install dependencies")
    log.command(f"python -m pip install --no-deps -r {path}")
    log.say(f"Looking in indexes: {_INDEX}", f"Collecting {name}=={version} (from -r {path} (line 1))")
    for left in range(4, -1, -1):
        log.wait(1_000, 8_200)
        log.say(_retry(left, f"ResponseError('too many 503 error responses')': /simple/{name}/"))
    log.say(f"ERROR: Could not find a version that satisfies the requirement {name}=={version} (from versions: none)")
    log.fail(1)


def _wheel(name: str, version: str) -> str:
    tag = "cp311-cp311-manylinux_2_28_x86_64" if name in _COMPILED else "py3-none-any"
    return f"{name.replace('-', '_')}-{version}-{tag}.whl"


def _retry(left: int, cause: str) -> str:
    return f"WARNING: Retrying (Retry(total={left}, connect=None, read=None)) after connection broken by '{cause}"

"""The formats that services log in. Train and test have none in common."""

from __future__ import annotations

from collections.abc import Callable

from TokenOptEnv.streams import word
from TokenOptEnv.task_defs.incident.generator.record import Level, Record
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.go_logfmt import LogfmtLog
from TokenOptEnv.task_defs.incident.writers.java_log import JavaLog, Thrown
from TokenOptEnv.task_defs.incident.writers.json_lines import JsonLog
from TokenOptEnv.task_defs.incident.writers.klog import Klog
from TokenOptEnv.task_defs.incident.writers.python_log import PythonLog
from TokenOptEnv.task_defs.incident.writers.serilog import Serilog
from TokenOptEnv.task_defs.incident.writers.syslog import Journal
from TokenOptEnv.task_defs.incident.writers.tracing_log import TracingLog

Format = Callable[[Clock, str, Record], str]
"""Clock, service and record give one or more lines."""


def _json(clock: Clock, service: str, record: Record) -> str:
    fields = {"host": record.host, **record.fields}
    return JsonLog(clock).line(record.at_ms, record.level.lower(), record.message, **fields).text


def _logfmt(clock: Clock, service: str, record: Record) -> str:
    fields = {"host": record.host, **record.fields}
    return LogfmtLog(clock).line(record.at_ms, record.level, record.message, **fields).text


def _journal(clock: Clock, service: str, record: Record) -> str:
    pairs = "".join(f" {name}={value}" for name, value in record.fields.items())
    message = f"{record.level}: {record.message}{pairs}"
    return Journal(clock, record.host).line(record.at_ms, service, _number(record.host, 900, 9000), message).text


def _java(clock: Clock, service: str, record: Record) -> str:
    """Errors come with the frames they were thrown through."""
    name = _camel(service)
    package = f"com.{service.replace('-', '.')}"
    place = _PLACES[_number(record.message[:12], 0, len(_PLACES) - 1)]
    pairs = "".join(f" {key}={value}" for key, value in record.fields.items())
    thrown = None
    if record.level is Level.ERROR:
        line = _number(record.message[:9], 40, 400)
        thrown = Thrown(
            f"{package}.{name}Exception: {place.lower()} stopped",
            (f"{package}.{place}.run({place}.java:{line})", f"{package}.{name}.handle({name}.java:{line // 3 + 11})"),
        )
    thread = f"{record.host}-w{_number(str(record.at_ms), 1, 12)}"
    return JavaLog(clock).line(record.at_ms, record.level, thread, place, record.message + pairs, thrown).text


def _klog(clock: Clock, service: str, record: Record) -> str:
    source = f"{_PLACES[_number(record.message[:12], 0, len(_PLACES) - 1)].lower()}.go"
    fields = {"host": record.host, **record.fields}
    return Klog(clock).line(record.at_ms, record.level, source, record.message, **fields).text


def _tracing(clock: Clock, service: str, record: Record) -> str:
    module = f"{service.replace('-', '_')}::{_MODULES[_number(record.message[:12], 0, len(_MODULES) - 1)]}"
    fields = {"node": record.host, **record.fields}
    return TracingLog(clock).line(record.at_ms, record.level, module, record.message, **fields).text


def _serilog(clock: Clock, service: str, record: Record) -> str:
    fields = {"node": record.host, **record.fields}
    return Serilog(clock).line(record.at_ms, record.level, _camel(service), record.message, **fields).text


def _python(clock: Clock, service: str, record: Record) -> str:
    logger = f"{service.replace('-', '_')}.{_MODULES[_number(record.message[:12], 0, len(_MODULES) - 1)]}"
    fields = {"node": record.host, **record.fields}
    return PythonLog(clock).line(record.at_ms, record.level, logger, record.message, **fields).text


TRAIN_FORMATS: tuple[Format, ...] = (_json, _logfmt, _journal, _java, _klog)
TEST_FORMATS: tuple[Format, ...] = (_tracing, _serilog, _python)

_PLACES = ("Handler", "Client", "Runner", "Pool", "Loop", "Codec")
_MODULES = ("handler", "client", "runtime", "intake", "codec")


def _camel(service: str) -> str:
    return "".join(part.capitalize() for part in service.split("-"))


def _number(key: str, low: int, high: int) -> int:
    """A number that belongs to a name, such as a process id: the same wherever it is printed."""
    return low + word("format", key) % (high - low + 1)

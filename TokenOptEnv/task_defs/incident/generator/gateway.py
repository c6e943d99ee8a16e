"""The gateway's access log, in the formats of real proxies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.envoy_access import Call, EnvoyLog
from TokenOptEnv.task_defs.incident.writers.haproxy_access import HaproxyLog, Passed
from TokenOptEnv.task_defs.incident.writers.nginx_access import Hit, NginxLog


@dataclass(frozen=True, slots=True)
class Visit:
    """One request as the gateway saw it."""

    at_ms: int
    tenant: str
    request_id: str
    path: str
    status: int
    took_ms: int
    client: str
    upstream: str
    bytes_out: int


Access = Callable[[Clock, Visit], str]

TIMED_OUT = 504
LEFT = 499


def _nginx(clock: Clock, visit: Visit) -> str:
    request = f"POST {visit.path}"
    hit = Hit(visit.client, request, visit.status, visit.bytes_out, visit.tenant, visit.request_id, visit.took_ms)
    return NginxLog(clock).line(visit.at_ms, hit).text


def _envoy(clock: Clock, visit: Visit) -> str:
    flags = {TIMED_OUT: "UT", LEFT: "DC"}.get(visit.status, "-")
    call = Call(
        request=f"POST {visit.path}",
        status=0 if visit.status == LEFT else visit.status,
        took_ms=visit.took_ms,
        request_id=visit.request_id,
        upstream=visit.upstream,
        flags=flags,
        bytes_out=visit.bytes_out,
    )
    return EnvoyLog(clock).line(visit.at_ms, call).text


def _haproxy(clock: Clock, visit: Visit) -> str:
    passed = Passed(
        client=visit.client,
        backend=visit.tenant,
        server=visit.upstream,
        took_ms=visit.took_ms,
        status=-1 if visit.status == LEFT else visit.status,
        bytes_out=visit.bytes_out,
        request_id=visit.request_id,
        request=f"POST {visit.path}",
        state={TIMED_OUT: "sH--", LEFT: "CD--"}.get(visit.status, "----"),
    )
    return HaproxyLog(clock).line(visit.at_ms, passed).text


TRAIN_ACCESS: tuple[Access, ...] = (_nginx, _envoy)
TEST_ACCESS: tuple[Access, ...] = (_haproxy,)

"""A case to begin with: two logs, a file of settings and a spec that quotes them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePosixPath

from TokenOptEnv.streams import Stream

_SPEC = "import.toml"
_LOGS = "logs"
_SECONDS_A_LINE = 2
_PATHS = ("/api/cart", "/api/orders", "/api/products/{0}", "/api/checkout", "/health", "/api/account")
_BEGIN_S = 9 * 3_600 + 5 * 60
_POOL_EMPTY_AT, _FIRST_FAILURE_AT, _DISK_AT, _RETRY_AT = 268, 274, 150, 240


def case_files(name: str) -> dict[PurePosixPath, str]:
    """By path: what to write."""
    spec = (files(__package__) / "case.toml.txt").read_text(encoding="utf-8").replace("@NAME@", name)
    settings = (files(__package__) / "settings.txt").read_text(encoding="utf-8")
    return {
        PurePosixPath(_SPEC): spec,
        PurePosixPath(_LOGS, "gateway.log"): _gateway(Stream("example", name, "gateway")),
        PurePosixPath(_LOGS, "orders.log"): _orders(Stream("example", name, "orders")),
        PurePosixPath(_LOGS, "orders.toml"): settings,
    }


def _gateway(draw: Stream) -> str:
    """An access log as web servers write it; addresses and accounts in it are masked when it is imported."""
    lines = []
    for number in range(320):
        path = draw.choice(_PATHS).format(draw.integer(100, 999))
        status, took_ms = 200, draw.integer(9, 80)
        if number >= _FIRST_FAILURE_AT and path in ("/api/checkout", "/api/orders") and draw.chance(0.6):
            status, took_ms = 503, 30_000 + draw.integer(1, 40)
        request = f"req-{draw.hex(4)}"
        if number == _FIRST_FAILURE_AT:
            path, status, took_ms, request = "/api/checkout", 503, 30_004, "req-7f3a"
        lines.append(
            f"198.51.100.{draw.integer(2, 40)} - - [12/Mar/2026:{_clock(number)} +0000] "
            f'"POST {path} HTTP/1.1" {status} {draw.integer(180, 9_000)} rt={took_ms}ms id={request}'
        )
    return "\n".join(lines) + "\n"


def _orders(draw: Stream) -> str:
    special = {
        _DISK_AT: "WARN  archive volume /srv/cold at 91 percent, the next snapshot is due at 22:00",
        _RETRY_AT: "WARN  payments slow answer from provider, attempt 2 of 3 succeeded after 2140 ms",
        _POOL_EMPTY_AT: "ERROR pool exhausted: 20 of 20 connections in use, 7 requests waiting",
        _FIRST_FAILURE_AT: "ERROR request req-7f3a gave up after 30000 ms waiting for a connection",
    }
    lines = []
    for number in range(300):
        busy = min(20, 6 + number // 20 + draw.integer(0, 2))
        routine = (
            f"INFO  order {draw.integer(10_000, 99_999)} stored in {draw.integer(4, 30)} ms, {busy} connections busy"
        )
        lines.append(f"2026-03-12T{_clock(number)}Z {special.get(number, routine)}")
    return "\n".join(lines) + "\n"


def _clock(number: int) -> str:
    second = _BEGIN_S + _SECONDS_A_LINE * number
    return f"{second // 3_600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"

"""What merchants meet: the edge's access log, and the log of the desk that calls the refusing services for them."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import Use, traffic
from TokenOptEnv.task_defs.incident.writers.clock import Window
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks
from TokenOptEnv.task_defs.incident.writers.envoy_access import Call, EnvoyLog, Route, requests
from TokenOptEnv.task_defs.incident.writers.python_log import PythonLog

_DESK = "desk-api:8080"
_TOLD_ONE_IN = 3
"""Of the desk's failed calls, so many are in the excerpts, the same in both."""
_PATHS = {cast.LABELS: "/v1/labels", cast.CUSTOMS: "/v1/declarations", cast.PICKUP: "/v1/pickups"}


def edge_log() -> str:
    log = EnvoyLog(cast.DAY)
    window = Window(cast.DAY.at("09:30"), cast.WINDOW.end_ms)
    label = Route("POST", "/v1/labels", _DESK, (70, 340), ((201, "-"),))
    pickup = Route("POST", "/v1/pickups", _DESK, (50, 200), ((201, "-"), (201, "-"), (409, "-")))
    parcel = Route("GET", "/v1/parcels/p-{id}", _DESK, (8, 60), ((200, "-"), (200, "-"), (200, "-"), (404, "-")))
    back = Route("POST", "/v1/returns", "returns-api:8080", (40, 180), ((201, "-"),))
    bulk = Route("PUT", "/v1/bulk/b-{id}", "batcher:8080", (600, 4200), ((202, "-"),))
    by_hand = [
        log.at("09:33:20.402", Call("GET /v1/exports/e-5501c7", 504, 30_001, "4be0117a", _DESK, "UT", 24)),
        log.at("09:58:47.013", Call("GET /v1/exports/e-90d2af", 0, 11_840, "a17fc25d", _DESK, "DC", 0)),
    ]
    return merge(
        by_hand,
        (_failed_request(log, use) for use in _desk_failures()),
        requests(_draws("edge"), log, window, 23_000, (label, label, pickup, parcel, parcel, back, bulk)),
    )


def desk_log() -> str:
    log = PythonLog(cast.DAY)
    return merge(
        (
            log.line(
                token.minted_ms + token.took_ms,
                "INFO",
                "desk.tokens",
                "token renewed",
                token=token.token_id,
                aud=token.holder.audience,
                caller=token.holder.caller,
                ms=token.took_ms,
            )
            for token in traffic().tokens
            if token.holder.caller in cast.DESKS and token.sampled(9)
        ),
        (
            log.line(
                missed.at_ms,
                "WARNING",
                "desk.tokens",
                "mint did not answer in 2000 ms, asked again",
                caller=missed.holder.caller,
            )
            for missed in traffic().missed
            if missed.holder.caller in cast.DESKS
        ),
        (
            log.line(
                use.at_ms + 9,
                "ERROR",
                "desk.calls",
                f"{use.token.holder.audience} said 401, not sent twice because it may charge",
                rid=_request_id(use),
                token=use.token.token_id,
            )
            for use in _desk_failures()
        ),
        _work(log),
        _worries(log),
    )


def _desk_failures() -> list[Use]:
    """Orders that a refusal broke: what the desk may not send twice fails, and its merchant sees a 502."""
    refused = [use for use in traffic().uses if use.refused and use.token.holder.caller in cast.DESKS]
    return refused[::_TOLD_ONE_IN]


def _request_id(use: Use) -> str:
    return Stream(cast.SCENARIO_ID, "request", use.token.token_id).hex(8)


def _failed_request(log: EnvoyLog, use: Use) -> Entry:
    draws = Stream(cast.SCENARIO_ID, "failed", use.token.token_id)
    began_ms = use.at_ms - draws.integer(20, 60)
    took_ms = use.at_ms - began_ms + draws.integer(12, 40)
    path = _PATHS[use.token.holder.audience]
    return log.line(began_ms, Call(f"POST {path}", 502, took_ms, _request_id(use), _DESK, "-", 61))


def _work(log: PythonLog) -> Iterator[Entry]:
    stream = _draws("desk", "work")
    for at_ms in ticks(stream, cast.WINDOW, 22_000):
        merchant, parcel = f"m-{stream.integer(1100, 7400)}", f"p-{stream.hex(8)}"
        logger, message = stream.choice(
            (
                ("desk.orders", f"{parcel} ordered by {merchant}"),
                ("desk.orders", f"{parcel} weighed {stream.integer(80, 29_000)} g"),
                ("desk.prices", f"{merchant} quoted zone {stream.integer(1, 7)}"),
                ("desk.pages", f"{merchant} listed {stream.integer(3, 50)} parcels"),
            )
        )
        yield log.line(at_ms, "INFO", logger, message, ms=stream.integer(4, 120))


def _worries(log: PythonLog) -> Iterator[Entry]:
    stream = _draws("desk", "worries")
    for at_ms in ticks(stream, cast.WINDOW, 260_000):
        level, logger, message = stream.choice(
            (
                ("WARNING", "desk.prices", "zone table older than a day, used anyway"),
                ("WARNING", "desk.pages", f"slow page for m-{stream.integer(1100, 7400)}, 12000 parcels"),
                ("ERROR", "desk.mail", "mail relay deferred 4 messages"),
            )
        )
        yield log.line(at_ms, level, logger, message)


def _draws(*part: str) -> Stream:
    return Stream(cast.SCENARIO_ID, *part)

"""The logs of the three services that refuse tokens, each in its own format and its own words.

A gate writes out the first refusal of each five minutes and counts the others, as rate-limited loggers do. Each
also turns away one token that really was too old, as happens on any day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.daily_formats import DailyJavaLog, DailyJsonLog
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import Holder, Token, Use, traffic
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks
from TokenOptEnv.task_defs.incident.writers.java_log import Heap, collector_pauses, pool_statistics
from TokenOptEnv.task_defs.incident.writers.json_lines import Event, events
from TokenOptEnv.task_defs.incident.writers.serilog import Serilog

_ONE_IN = {cast.LABELS: 27, cast.CUSTOMS: 31, cast.PICKUP: 31}
"""Of the tokens that pass, so many are told of."""
_MINUTE_MS = 60_000
_WORN_AFTER_S = 300


def _outworn(token_id: str, caller: str, audience: str, time: str, age_s: int) -> Use:
    """A token its caller forgot to replace."""
    at_ms = cast.DAY.at(time)
    token = Token(token_id, Holder(caller, audience), "mint-1", cast.OLD_KEY, at_ms - age_s * 1000, 5)
    return Use(token, at_ms)


OUTWORN = {
    cast.LABELS: _outworn("t-0be61f47", "batch-1", cast.LABELS, "09:31:12.480", 471),
    cast.CUSTOMS: _outworn("t-93d05ac2", "batch-1", cast.CUSTOMS, "09:32:40.118", 388),
    cast.PICKUP: _outworn("t-e4720c9b", "returns-2", cast.PICKUP, "09:36:55.902", 529),
}


def refusal_span(use: Use) -> str:
    """The part of a refusal's line that names the token and where it comes from."""
    token = use.token
    match token.holder.audience:
        case cast.LABELS:
            return f'"kid":"{token.key}","by":"{token.host}","id":"{token.token_id}"'
        case cast.CUSTOMS:
            return f"key {token.key} from {token.host}, {token.token_id}"
        case _:
            return f"Key: {token.key}, Minter: {token.host}, Token: {token.token_id}"


def labels_log() -> str:
    log = DailyJsonLog(cast.DAY)

    def refusal(use: Use) -> Entry:
        token = use.token
        return log.line(
            use.at_ms,
            "warn",
            "caller overstays its token" if _is_outworn(use) else "bearer refused, past its time",
            sub=token.holder.caller,
            kid=token.key,
            by=token.host,
            id=token.token_id,
            past_s=use.past_s,
        )

    usual = (
        Event("info", "label drawn", "parcel", "p-", (14, 96), "zebra-4"),
        Event("info", "label drawn", "parcel", "p-", (14, 96), "zebra-7"),
        Event("info", "label stored", "parcel", "p-", (5, 31), "blob"),
        Event("info", "carrier asked", "parcel", "p-", (40, 260), "north-post"),
        Event("info", "carrier asked", "parcel", "p-", (40, 260), "kurier-24"),
    )
    odd = (
        Event("warn", "template nn_NO missing, nb_NO used", "parcel", "p-", (9, 20)),
        Event("warn", "carrier quota at 80 %", "parcel", "p-", (2, 6), "kurier-24"),
        Event("error", "carrier answered 429, queued", "parcel", "p-", (60, 190), "kurier-24"),
    )
    return merge(
        [refusal(use) for use in _told(cast.LABELS)],
        (
            log.line(use.at_ms, "info", "token ok", token=use.token.token_id, sub=use.token.holder.caller)
            for use in _passed(cast.LABELS)
        ),
        (
            log.line(at_ms, "info", "gate, last minute", ok=passed, refused=refused)
            for at_ms, passed, refused in _minutes(cast.LABELS)
        ),
        events(_draws("labels", "usual"), log, cast.WINDOW, 26_000, usual),
        events(_draws("labels", "odd"), log, cast.WINDOW, 240_000, odd),
    )


def customs_log() -> str:
    log = DailyJavaLog(cast.DAY)
    gate, heap = "customs.Gate", Heap(2048, 610, 140, 21)

    def said(at_ms: int, level: str, thread: str, logger: str, message: str) -> Entry:
        return log.line(at_ms, level, thread, logger, message)

    def declarations() -> Iterator[Entry]:
        stream = _draws("customs", "declarations")
        for at_ms in ticks(stream, cast.WINDOW, 34_000):
            parcel, thread = f"p-{stream.hex(8)}", f"http-nio-8080-exec-{stream.integer(1, 24)}"
            message = stream.choice(
                (
                    f"declared {parcel} as CN23, {stream.integer(1, 6)} lines",
                    f"priced {parcel} with tariff table 2025-09-01",
                    f"{parcel} needs no declaration inside the union",
                )
            )
            yield said(at_ms, "INFO", thread, "customs.Forms", message)

    def worries() -> Iterator[Entry]:
        stream = _draws("customs", "worries")
        for at_ms in ticks(stream, cast.WINDOW, 330_000):
            level, message = stream.choice(
                (
                    ("WARN", f"goods code 9999{stream.integer(10, 99)} unknown, left to the clerk"),
                    ("WARN", f"tariff-db answered in {stream.integer(900, 2400)} ms, plan changed after analyze"),
                    ("ERROR", "exchange table refresh failed, table of 08:00 kept"),
                )
            )
            yield said(at_ms, level, "tariffs-1", "customs.Tariffs", message)

    by_hand = [
        log.at("09:36:02.207", "INFO", "main", "customs.Boot", f"build 38.2 starting, {cast.DEPLOY}"),
        log.at("09:36:09.511", "INFO", "main", gate, "checks from tokenlib 4.2, leeway PT30S (as before)"),
        log.at("09:40:01.874", "INFO", "main", "customs.Boot", "last instance of the roll is in service"),
    ]
    return merge(
        by_hand,
        (
            said(
                use.at_ms,
                "WARN",
                f"gate-{1 + use.at_ms % 4}",
                gate,
                f"{use.token.holder.caller} {_sent_off(use)}: {refusal_span(use)}",
            )
            for use in _told(cast.CUSTOMS)
        ),
        (
            said(
                use.at_ms,
                "DEBUG",
                f"gate-{1 + use.at_ms % 4}",
                gate,
                f"admitted {use.token.token_id} of {use.token.holder.caller}",
            )
            for use in _passed(cast.CUSTOMS)
        ),
        (
            said(at_ms, "INFO", "gate-0", gate, f"60 s: {passed} admitted, {refused} not")
            for at_ms, passed, refused in _minutes(cast.CUSTOMS)
        ),
        declarations(),
        worries(),
        collector_pauses(_draws("customs", "gc"), log, cast.WINDOW, 200_000, heap, 311),
        pool_statistics(_draws("customs", "pool"), log, cast.WINDOW, 300_000, "tariffs", 12, 4),
    )


def pickup_log() -> str:
    log = Serilog(cast.DAY)

    def vans() -> Iterator[Entry]:
        stream = _draws("pickup", "vans")
        for at_ms in ticks(stream, cast.WINDOW, 15_000):
            stop, van = f"s-{stream.hex(6)}", f"van-{stream.integer(2, 61)}"
            source, message, fields = stream.choice(
                (
                    ("Offers", "slot offered", {"stop": stop, "from": f"{stream.integer(11, 18)}:00"}),
                    ("Tours", "stop added", {"stop": stop, "van": van}),
                    ("Tours", "tour shortened", {"van": van, "metres": str(stream.integer(200, 4100))}),
                    ("Beacons", "position", {"van": van, "seconds": str(stream.integer(1, 19))}),
                )
            )
            yield log.line(at_ms, "INFO", source, message, **fields)

    def worries() -> Iterator[Entry]:
        stream = _draws("pickup", "worries")
        for at_ms in ticks(stream, cast.WINDOW, 290_000):
            level, source, message = stream.choice(
                (
                    ("WARN", "Beacons", "no position for 10 min, in a tunnel?"),
                    ("WARN", "Tours", "tour over eight hours, kept"),
                    ("ERROR", "Mail", "driver mail bounced"),
                )
            )
            yield log.line(at_ms, level, source, message, van=f"van-{stream.integer(2, 61)}")

    def refusal(use: Use) -> Entry:
        token = use.token
        return log.line(
            use.at_ms,
            "WARN",
            "Gate",
            "worn ticket" if _is_outworn(use) else "stale ticket",
            caller=token.holder.caller,
            over=f"{use.past_s} s",
            key=token.key,
            minter=token.host,
            token=token.token_id,
        )

    return merge(
        [refusal(use) for use in _told(cast.PICKUP)],
        (
            log.line(use.at_ms, "INFO", "Gate", "let in", token=use.token.token_id, caller=use.token.holder.caller)
            for use in _passed(cast.PICKUP)
        ),
        (
            log.line(at_ms, "INFO", "Gate", "minute", passed=passed, sent_off=refused)
            for at_ms, passed, refused in _minutes(cast.PICKUP)
        ),
        vans(),
        worries(),
    )


def _is_outworn(use: Use) -> bool:
    """Past five minutes a gate takes it for a caller that does not renew, and says so in other words."""
    return use.past_s > _WORN_AFTER_S


def _sent_off(use: Use) -> str:
    return f"renews too late, {use.past_s} s" if _is_outworn(use) else f"turned away, ended {use.past_s} s ago"


def _told(audience: str) -> Iterable[Use]:
    return (*traffic().told_refusals(audience), OUTWORN[audience])


def _passed(audience: str) -> list[Use]:
    one_in = _ONE_IN[audience]
    return [use for use in traffic().uses_at(audience) if not use.refused and use.token.sampled(one_in)]


def _minutes(audience: str) -> Iterator[tuple[int, int, int]]:
    """What a gate counted, minute by minute: when it says so, how many passed, how many it refused."""
    uses = [*traffic().uses_at(audience), OUTWORN[audience]]
    counts = Counter((use.at_ms // _MINUTE_MS, use.refused) for use in uses)
    for minute in range(cast.WINDOW.start_ms // _MINUTE_MS, cast.WINDOW.end_ms // _MINUTE_MS):
        yield (minute + 1) * _MINUTE_MS, counts[minute, False], counts[minute, True]


def _draws(*part: str) -> Stream:
    return Stream(cast.SCENARIO_ID, *part)

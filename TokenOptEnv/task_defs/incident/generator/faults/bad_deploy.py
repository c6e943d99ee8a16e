"""A new build fails some of its callers' requests."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    hosts = len(spot.culprit.hosts)
    return RefusingHosts(spot.culprit.name, spot.since_ms, hosts=hosts, step_ms=55_000, share=64)


KIND = FaultKind(
    fault_class=FaultClass.BAD_DEPLOY,
    seat=Seat.MIDDLE,
    effect=_effect,
    grave={"failed": (3, 64)},
    calm={"failed": (0, 1), "ms": (12, 40)},
    train=(
        Wording(
            topic="line items",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: line items parsed strictly",
            diff=("-    amount = item.get(amount, 0)", "+    amount = item[amount]"),
            in_effect="replaced by the build of {trigger}",
            telltale="unhandled KeyError amount while reading line items, 500 sent",
            pressure="{failed} % of calls ended in 500 on this build",
            mild="line items without amount skipped, {ms} ms",
            state="instances still on the former build answer the same bodies with 200",
            advice="If only new instances fail on line items, undo the release; callers need not change.",
            remedy="undo the newest release of {svc}",
            says="the new build of {svc} breaks on line items",
        ),
        Wording(
            topic="region code",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: region code becomes an enum",
            diff=("-    region: str", "+    region: RegionCode"),
            in_effect="version of {trigger} has joined the pool",
            telltale="cannot map region code from caller, answered 422",
            pressure="422 share {failed} % since joining",
            mild="region code unknown, default taken, {ms} ms",
            state="no caller changed what it sends; replayed on the version before, all pass",
            advice="A region code that the version before accepts means: go back to that version.",
            remedy="go back to the former version of {svc}",
            says="{svc} no longer takes the region code it is sent",
        ),
    ),
    test=(
        Wording(
            topic="page token",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: page token carries a signature",
            diff=("-token = encode(cursor)", "+token = sign(encode(cursor), KEY_V2)"),
            in_effect="canary of {trigger} promoted here",
            telltale="page token from a sibling rejected, signature not ours",
            pressure="rejections {failed} in 100, all between siblings",
            mild="page token reread in {ms} ms",
            state="siblings on the older artefact honour each other's tokens",
            advice="A page token that siblings reject is mended by withdrawing the promoted artefact.",
            remedy="withdraw the promoted artefact of {svc}",
            says="{svc} rejects page tokens of its own siblings",
        ),
        Wording(
            topic="decimal comma",
            trigger=TriggerKind.DEPLOY,
            change="{svc}: decimal comma handled by the new formatter",
            diff=("-value = Decimal(text)", "+value = formatter.parse(text, locale)"),
            in_effect="node switched to artefact {trigger}",
            telltale="formatter threw on a decimal comma, caller got an error reply",
            pressure="error replies {failed} per cent on switched nodes",
            mild="decimal comma normalised, {ms} ms",
            state="nodes not switched yet format the same inputs without complaint",
            advice="Errors on a decimal comma stop once switched nodes return to the artefact before.",
            remedy="return the nodes of {svc} to the artefact before",
            says="the formatter in {svc} fails on a decimal comma",
        ),
    ),
)

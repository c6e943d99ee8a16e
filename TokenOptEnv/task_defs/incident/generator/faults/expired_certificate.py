"""A certificate ran out on the hosts that still serve it."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, RefusingHosts
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return RefusingHosts(spot.culprit.name, spot.since_ms + 95_000, hosts=len(spot.culprit.hosts) - 1)


KIND = FaultKind(
    fault_class=FaultClass.EXPIRED_CERTIFICATE,
    seat=Seat.MIDDLE,
    effect=_effect,
    standing=True,
    grave={"aborted": (2, 41)},
    calm={"aborted": (0, 1), "days": (5, 24), "ms": (9, 31)},
    train=(
        Wording(
            topic="served leaf",
            trigger=TriggerKind.OBJECT,
            change="renewal for {svc}: successor of served leaf {trigger} written to disk, reload not confirmed",
            diff=("-tls.crt -> {trigger}.pem", "+tls.crt -> {trigger}-next.pem"),
            in_effect="listener open, serving leaf {trigger}",
            telltale="peer hung up in the handshake: served leaf past its end {until}",
            pressure="handshakes broken off: {aborted} in the last minute",
            mild="handshake took {ms} ms, served leaf has {days} d to go",
            state="key pair is read when the process comes up, file on disk is newer than ours",
            advice="If the disk has a newer one than the served leaf, restart the daemon; do not ask the authority.",
            remedy="restart {svc} so that it reads the file on disk",
            says="the served leaf of {svc} has ended",
        ),
        Wording(
            topic="presented serial",
            trigger=TriggerKind.OBJECT,
            change="issuer: order to follow the presented serial {trigger} of {svc}, held back for approval",
            diff=("-auto_approve: yes", "+auto_approve: no"),
            in_effect="presenting serial {trigger} to callers",
            telltale="remote alert certificate_expired, presented serial ended {until}",
            pressure="{aborted} connections closed before the first byte",
            mild="session resumed in {ms} ms, presented serial good for {days} d",
            state="no file younger than the one in use, the order waits for approval",
            advice="If the presented serial has no successor on the host, approve the order; a restart is no use.",
            remedy="approve the waiting certificate order of {svc}",
            says="the presented serial of {svc} has run out",
        ),
    ),
    test=(
        Wording(
            topic="trust chain",
            trigger=TriggerKind.OBJECT,
            change="{svc}: trust chain bundle rebuilt, intermediate {trigger} kept for old peers",
            diff=("-bundle: [root-r3, int-next]", "+bundle: [root-r3, {trigger}]"),
            in_effect="bundle loaded, intermediate {trigger} on top",
            telltale="caller rejects our trust chain, intermediate not valid after {until}",
            pressure="TLS alerts received {aborted}, mostly bad_certificate",
            mild="trust chain verified in {ms} ms, {days} d of validity left",
            state="the leaf itself is young, only what was placed above it is old",
            advice="With a young leaf, ship the trust chain without the old intermediate; do not reissue the leaf.",
            remedy="ship {svc} a chain without the old intermediate",
            says="{svc} sends a trust chain whose intermediate ended",
        ),
        Wording(
            topic="client credential",
            trigger=TriggerKind.OBJECT,
            change="vault: client credential {trigger} of {svc} flagged for rotation, owner asked",
            diff=("-rotation: automatic", "+rotation: by owner"),
            in_effect="mounted client credential {trigger}",
            telltale="{store} closes on us: client credential invalid since {until}",
            pressure="{aborted} reconnects, each turned away",
            mild="client credential accepted in {ms} ms, {days} d remain",
            state="vault holds no later version than the mounted one",
            advice="A client credential past its date is rotated in the vault; remounting brings back the same one.",
            remedy="rotate the credential of {svc} in the vault",
            says="the client credential of {svc} is past its date",
        ),
    ),
)

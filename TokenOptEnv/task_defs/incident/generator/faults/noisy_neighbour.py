"""Something else on the same machines takes the processor, and requests wait for their turn to run."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind, Seat, Spot, TriggerKind, Wording
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect, SlowerWork
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass


def _effect(spot: Spot) -> Effect:
    return SlowerWork(spot.victim.name, spot.since_ms, full_ms=90_000, most=3600 / spot.victim.work_ms, hosts=2)


KIND = FaultKind(
    fault_class=FaultClass.NOISY_NEIGHBOUR,
    seat=Seat.BATCH,
    effect=_effect,
    grave={"cores": (5, 15), "steal": (22, 81)},
    calm={"cores": (1, 2), "steal": (0, 2), "ms": (180, 420)},
    train=(),
    test=(
        Wording(
            topic="core budget",
            trigger=TriggerKind.JOB,
            change="{svc}: core budget lifted for the quarter, runs beside {victim}",
            diff=("-cpu.max = 200000 100000", "+cpu.max = max 100000"),
            in_effect="order {trigger} begun, 16 threads",
            telltale="block done in {ms} ms on {cores} cores, core budget open",
            pressure="{cores} cores busy on shared machines",
            mild="block done in {ms} ms on {cores} cores, core budget kept",
            state="paused for a minute at the owner's request, {victim} ran at its usual pace",
            advice="Work that may run at night is put back under its core budget; its neighbours need no change.",
            remedy="put {svc} back under its core budget",
            says="{svc} takes the cores that {victim} needs",
            victim="ready to run but off the processor {steal} % of the time, {svc} is on it",
        ),
        Wording(
            topic="page cache",
            trigger=TriggerKind.JOB,
            change="{svc}: full read of the archive, page cache not bypassed, machines of {victim}",
            diff=("-open(path, O_DIRECT)", "+open(path)"),
            in_effect="archive read {trigger} started",
            telltale="read block in {ms} ms through the page cache, {cores} readers",
            pressure="readers {cores}, evicting what others had loaded",
            mild="block read in {ms} ms past the page cache, {cores} readers",
            state="major faults of {victim} stop the moment the readers are frozen",
            advice="Readers that flood the page cache are run with direct reads; more memory is read through as well.",
            remedy="run the reads of {svc} past the page cache",
            says="{svc} floods the page cache beside {victim}",
            victim="{steal} % of time in major faults, machine shared with {svc}",
        ),
        Wording(
            topic="placement rule",
            trigger=TriggerKind.CONFIG,
            change="scheduler: placement rule of {svc} loosened, may share with {victim}",
            diff=("-antiAffinity: required", "+antiAffinity: preferred"),
            in_effect="placed here by rule {trigger}",
            telltale="work unit {ms} ms, {cores} cores, shared by placement rule",
            pressure="quota unused elsewhere, {cores} cores drawn here",
            mild="work unit {ms} ms, {cores} cores, alone by placement rule",
            state="the one machine of {victim} without it answers as fast as ever",
            advice="Sharing by a placement rule is undone there; moving the victim only takes it along.",
            remedy="restore the placement rule of {svc}",
            says="{svc} was placed on the machines of {victim} and starves it",
            victim="run queue delay {steal} ms per slice since {svc} came to this machine",
        ),
    ),
)

"""The phrases of the test split."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.stock.phrases import Lines, Phrases, Questions, Talk

PHRASES = Phrases(
    lines=Lines(
        wired=(
            "binding {alias} => {svc} x{n}",
            "dependency {alias} bound, provider {svc}, endpoints {n}",
            "{alias} is provided by {svc} through {n} endpoints",
        ),
        failed_late=(
            "dependency {alias} silent, {ms} ms",
            "{alias} did not come back, {ms} ms",
            "waiting for {alias} ended, {ms} ms",
        ),
        failed_fast=(
            "dependency {alias} said no",
            "{alias} returned a failure right away",
            "negative reply from {alias}",
        ),
        gave_up=("abandoned at {ms} ms", "no progress for {ms} ms, closed", "left unfinished, {ms} ms"),
        undone=("{trigger} reversed on this node", "values from before {trigger} restored"),
        chatter=(
            "tick ok={a} median={b}ms queued={c}",
            "exporter pushed {a} points, took {b}ms",
            "lease with {other} renewed for {c}s",
            "compaction level 1, {a} tables, {b}ms",
            "heartbeat {a} acknowledged by {other}",
            "pruned {a} idle entries, kept {c}",
            "snapshot {a} verified, {b}ms",
            "liveness {b}ms readiness {c}ms",
            "scheduler drift {c}ms over {a} cycles",
            "trace buffer rotated after {a} spans",
        ),
        worries=(
            "lease with {other} renewed late by {b}ms",
            "compaction postponed {c} times",
            "{other} speaks an older protocol, falling back",
            "span dropped, buffer at {c} %",
            "heartbeat from {other} skipped once",
            "payload of {a} kB near the soft limit",
        ),
    ),
    talk=Talk(
        people=(
            "yara",
            "ingmar",
            "chidi",
            "bao",
            "leonie",
            "marek",
            "sunita",
            "teo",
            "freya",
            "amadou",
            "hye-jin",
            "pavlos",
        ),
        alert=(
            "objective breached: {unit}, {cell}, fifth of traffic late or lost over 120 s",
            "{cell}/{unit}: late-or-lost ratio over 0.2, held 120 s",
            "error budget of {unit} at {cell} draining, 2 min sustained",
        ),
        flapping=(
            "Open since last week: {other} queue time.",
            "Open since last week: {other} memory trend.",
            "Open since last week: {other} disk forecast.",
        ),
        sample=(
            "Exemplar of the breach: {tenant}, {time}.",
            "Exemplar picked at {time}: {tenant}.",
            "The breach carries an exemplar, {tenant} at {time}.",
        ),
        page_sample=(
            "Neighbouring exemplar: {request}, {time}.",
            "The panel also shows {request} ({time}).",
        ),
        service_guess=(
            "To me the component responsible is {svc}; it mentions {topic}.",
            "Responsible component: {svc}. See {topic} over there.",
            "{svc} looks responsible for the lost {unit}, with its {topic}.",
        ),
        cause_guess=(
            "My reading: origin {trigger}, category to be had from {topic} at {svc}.",
            "Origin would be {trigger}; {svc} and its {topic} give the category.",
            "As category I see what {topic} at {svc} suggests, origin {trigger}.",
        ),
        next_guess=(
            "Proposed step to take: {remedy}. Reason: {topic}.",
            "The step to take, given {topic} at {svc}: {remedy}.",
            "Step I would take now: {remedy}; it smells of {topic}.",
        ),
        small_talk=(
            "panel times are local, add the offset",
            "I will be away for ten minutes",
            "storage colleagues see nothing unusual",
            "two callers phoned the desk, both polite",
            "same curve at the mirror site, scaled down",
            "the link in the alarm is dead, fixing it later",
            "still reading, no theory yet",
            "racks and power look normal from the console",
        ),
        other_changes=(
            "{svc}: wording of notices",
            "{svc}: sampling of spans halved",
            "{svc}: labels for cost reports",
            "{svc}: maintainers list refreshed",
            "{svc}: compiler minor update",
            "{svc}: probe path renamed",
            "{svc}: dead code dropped",
            "{svc}: spare node ordered",
            "{svc}: base layer refreshed",
            "{svc}: access ledger kept for two weeks",
        ),
        other_advice=(
            "Ingress codes: 503 came back instantly, 504 ran into the limit.",
            "Whoever names a dependency passes trouble on; whoever does not has trouble of its own.",
            "Inform the desk ahead of any restart by day.",
            "What never arrived in the ring is not the origin.",
            "The register is kept in UTC, latest on top.",
            "Each step goes into the case with its time.",
        ),
        generic_remedies=(
            "cordon the nodes of {front}",
            "double the nodes of {front}",
            "lengthen the limits of {front}",
            "recycle all nodes of {front}",
            "shed a tenth of the traffic of {front}",
            "warm up spare nodes of {front}",
        ),
    ),
    questions=Questions(
        trace=(
            "Which request id has the exemplar of the breach?",
            "Which request id stands behind the exemplar?",
        ),
        trace_lexical=("Which request id is the lost one of {tenant}?",),
        trace_said="as to {said}",
        locate=(
            "Which endpoint address was met by the exemplar?",
            "Where, as an address, did the exemplar come to a halt?",
        ),
        locate_lexical=("Which endpoint address did the lost request of {tenant} to {alias} meet?",),
        service=(
            "Which component is responsible, if any?",
            "Is a component responsible, and which?",
            "Which component, if any, is responsible for this?",
        ),
        service_lexical=(
            "As to {said}, {asks}: {topics}?",
            "Given {said}, {asks}, with {topics}?",
        ),
        cause=(
            "{asks}?",
            "All in all, {asks}?",
        ),
        cause_lexical=(
            "Given {topics}: {asks}?",
            "{asks}, with {topics} in view?",
        ),
        survey=(
            "Weighing median, self-made failures and cores node by node in the sheet, {asks}?",
            "With median, self-made failures and cores of all nodes side by side, {asks}?",
        ),
        earlier=(
            "{asks}, while {unit} at {cell} run late or get lost?",
            "For {unit} lost or late at {cell}, {asks}?",
            "On {unit}, {cell}: {asks}?",
        ),
        earlier_survey=(
            "Node by node, by median, self-made failures and cores, {asks}?",
            "From the figures of the nodes at {cell}, {asks}?",
        ),
        asks={
            "request_id": "which request is the exemplar",
            "peer": "which endpoint did the exemplar meet",
            "service": "which component is responsible, if any",
            "host": "which node is the odd one",
            "fault_class": "which category of fault is it",
            "trigger": "what is its origin",
            "remediation": "which step to take",
        },
    ),
)

"""The phrases of the train and validation splits."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.stock.phrases import Lines, Phrases, Questions, Talk

PHRASES = Phrases(
    lines=Lines(
        wired=(
            "upstream {alias} goes to {svc}, {n} peers",
            "client {alias} built for {svc} with {n} peers",
            "route {alias} resolved: {svc} ({n} peers)",
        ),
        failed_late=(
            "upstream {alias} gave no answer, {ms} ms",
            "call to {alias} timed out, {ms} ms",
            "{alias} past the deadline, {ms} ms",
        ),
        failed_fast=(
            "upstream {alias} answered with an error",
            "call to {alias} refused",
            "{alias} sent an error reply, not repeated",
        ),
        gave_up=("gave up after {ms} ms", "request dropped, {ms} ms in line", "ended without result after {ms} ms"),
        undone=("{trigger} taken back, former values in use", "back to what was before {trigger}"),
        chatter=(
            "window served={a} p95={b} ms open={c}",
            "scrape done, {a} series in {b} ms",
            "config poll: nothing new, etag {a}{c}",
            "gc minor {b} ms, {a} MB freed",
            "keepalive to {other} ok, {b} ms",
            "session table trimmed, {a} gone, {c} left",
            "log shipped, {a} records, {b} ms",
            "health probe answered in {b} ms",
            "timer wheel turned {a} times, late {c} ms at most",
            "metrics flushed to {other}, batch {a}",
        ),
        worries=(
            "version check against {other} took {b} ms",
            "slow log flush, {a} ms",
            "{other} asked us to slow down, done so for {c} s",
            "deprecated header seen {a} times from {other}",
            "probe of {other} missed once, second one fine",
            "large body of {a} KB accepted",
        ),
    ),
    talk=Talk(
        people=(
            "m.okafor",
            "r.lindqvist",
            "s.varga",
            "t.brandt",
            "l.haddad",
            "j.moreau",
            "a.nwosu",
            "k.ilves",
            "b.anand",
            "p.achterberg",
            "c.duarte",
            "n.rahimi",
            "h.virtanen",
            "d.silva",
            "o.petrov",
            "e.hansen",
        ),
        alert=(
            "SlowOrFailed {unit} {cell} above 20 % for 2 min",
            "{unit} in {cell}: more than one in five slow or failed, two minutes running",
            "burn rate of {unit} {cell} past its limit for 2 min",
        ),
        flapping=(
            "Also firing: {other} latency (flapping since Monday).",
            "Also firing: {other} restarts (third time this week).",
            "Also firing: {other} certificate, 19 d left.",
        ),
        sample=(
            "Sample attached by the pager: {tenant} at {time}.",
            "First sample: {tenant}, {time}.",
            "Taken as sample: {tenant} at {time}.",
        ),
        page_sample=(
            "Another id from the dashboard: {request} ({time}).",
            "Dashboard links request {request}, {time}.",
        ),
        service_guess=(
            "The service at fault for the failed {unit} must be {svc}, it says {topic} all over.",
            "{svc} is at fault if you ask me, look for {topic} in its log.",
            "Behind the failed {unit}: {svc}, the service that complains about {topic}.",
        ),
        cause_guess=(
            "What set it off is {trigger}, and the class of fault follows from {topic}.",
            "{trigger} set it off, I think: {topic} at {svc} since then.",
            "The class of fault is clear to me: {topic} at {svc}, begun by {trigger}.",
        ),
        next_guess=(
            "Next we should do this: {remedy}. It is {topic} again.",
            "What should be done: {remedy}, because of {topic}.",
            "I would {remedy} next, {topic} at {svc} worries me.",
        ),
        small_talk=(
            "dashboards load slowly for me, anyone else?",
            "handing over at the hour, notes are in the ticket",
            "nothing on the network side, links are clean",
            "customer desk has had a handful of calls",
            "graph attached, it looks the same from both zones",
            "who owns the alert text? it links to an old page",
            "quiet from here, watching",
            "I looked at the hosts, temperature and fans are fine",
        ),
        other_changes=(
            "{svc}: copy of texts updated",
            "{svc}: log level of one class lowered",
            "{svc}: dashboard links renamed",
            "{svc}: owner changed in the catalogue",
            "{svc}: library bump, patch level",
            "{svc}: alert text reworded",
            "{svc}: unused endpoint removed",
            "{svc}: more replicas from Friday",
            "{svc}: build image moved to the newer base",
            "{svc}: retention of access records 30 to 14 days",
        ),
        other_advice=(
            "Read the gateway first: 503 was answered at once, 504 was waited for.",
            "A service's own failure stands in its own log; what it passes on names an upstream.",
            "Tell support before anything is restarted in working hours.",
            "A change that did not reach the cell cannot have caused it.",
            "Lists of changes are in UTC, newest first.",
            "Write down the time of each step in the ticket.",
        ),
        generic_remedies=(
            "add instances of {front}",
            "raise the timeouts of {front}",
            "restart every host of {front}",
            "throttle the callers of {front}",
            "upgrade the hosts of {front}",
            "wait until {front} has recovered",
        ),
    ),
    questions=Questions(
        trace=(
            "Which request id belongs to the pager's sample?",
            "Which request stands behind the sample of the page?",
        ),
        trace_lexical=("Which request id has the failed call of {tenant}?",),
        trace_said="where it says {said}",
        locate=(
            "Which peer address had the call behind the sample?",
            "At which address did the pager's sample get stuck?",
        ),
        locate_lexical=("At which peer did the failed call of {tenant} to {alias} end?",),
        service=(
            "Which service is at fault, if any?",
            "Which service is at fault for this, if any is?",
            "Who is at fault here, which service, if any?",
        ),
        service_lexical=(
            "Where it says {said}, {asks}: {topics}?",
            "It says {said}: {asks}, {topics}?",
        ),
        cause=(
            "{asks}?",
            "Taking it all together, {asks}?",
        ),
        cause_lexical=(
            "Of {topics}: {asks}?",
            "{asks}: {topics}?",
        ),
        survey=(
            "Comparing own p95, own errors and processor of every host in the report, {asks}?",
            "Going through own p95, own errors and processor host by host, {asks}?",
        ),
        earlier=(
            "{asks}, when {unit} are slow or fail in {cell}?",
            "With {unit} in {cell} slow or failing, {asks}?",
            "About {unit} in {cell}: {asks}?",
        ),
        earlier_survey=(
            "Host by host, by own p95, own errors and processor, {asks}?",
            "Going by own figures of the hosts of {cell}, {asks}?",
        ),
        asks={
            "request_id": "which request is the pager's sample",
            "peer": "at which peer did the sample's call end",
            "service": "which service is at fault, if any",
            "host": "which host stands out",
            "fault_class": "what class of fault is it",
            "trigger": "what set it off",
            "remediation": "what should be done next",
        },
    ),
)

"""Businesses of the test split."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.stock.domain import Domain, Part, parts

_OTHERS = parts("""
toggle-hub toggles toggle fetched
event-recorder recorder event kept
sms-bridge sms text handed over
map-tiles tiles tile served
glossary-api glossary word served
throttle-guard throttle pass granted
token-mint tokens token minted
lookup-engine lookup hit served
label-press labels label pressed
postcode-finder postcodes code resolved
people-register people person served
anomaly-grader anomalies grade given
exchange-board exchange figure served
contract-shelf contracts contract served
qr-studio qr pattern made
shift-calendar shifts shift served
privacy-desk privacy choice served
callback-runner callbacks callback made
""")
_RESOLVERS = parts("""
zone-keeper zones query served
host-names hostnames query served
""")

DOMAINS = (
    Domain(
        name="grid",
        unit="meter readings",
        path="/readings/{tenant}/batches",
        other_path="/readings/{tenant}/archives",
        tenant="util",
        cells=("ring-a", "ring-b", "ring-c", "ring-d"),
        gateway=Part("meter-ingress", "ingress", "message let in"),
        front=Part("reading-intake", "intake", "reading taken in"),
        apis=parts("""
load-profile shape curve fitted
tariff-zones zoning zone assigned
outage-map outages outage matched
feeder-model feeders feeder located
meter-keys keyring key issued
forecast-node outlook forecast joined
validation-gate plausibility batch validated
tenure-book occupancy tenure matched
"""),
        workers=parts("""
settle-engine settlement interval settled
alarm-fanout alarms alarm fanned out
gap-filler gaps gap filled
invoice-stager invoicing invoice staged
"""),
        batches=parts("""
phase-balancer balancing block balanced
loss-audit losses block audited
"""),
        stores=parts("""
readings-pg readings tuple fetched
assets-pg assets tuple fetched
tenures-pg tenures tuple fetched
curves-pg curves tuple fetched
"""),
        caches=parts("""
profile-memo profiles entry fetched
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="freight",
        unit="dispatches",
        path="/dispatch/{tenant}/loads",
        other_path="/dispatch/{tenant}/ledgers",
        tenant="hauler",
        cells=("hub1", "hub2", "hub3", "hub4"),
        gateway=Part("carrier-portal", "portal", "message let in"),
        front=Part("dispatch-core", "dispatch", "load dispatched"),
        apis=parts("""
slot-auction bids slot awarded
yard-plan ramps bay assigned
toll-meter tolls toll worked out
customs-desk border papers cleared
driver-hours tacho hours verified
weight-station weights axle verified
fuel-index diesel surcharge worked out
route-weaver weaving route woven
"""),
        workers=parts("""
manifest-binder manifests manifest bound
eta-broadcaster etas eta broadcast
damage-logger damages damage logged
freight-biller billing freight billed
"""),
        batches=parts("""
lane-optimizer lanes block optimised
scan-reconcile scans block reconciled
"""),
        stores=parts("""
loads-pg loads tuple fetched
fleet-pg fleet tuple fetched
papers-pg papers tuple fetched
bays-pg bays tuple fetched
"""),
        caches=parts("""
route-memo routes entry fetched
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="exams",
        unit="submissions",
        path="/papers/{tenant}/submissions",
        other_path="/papers/{tenant}/transcripts",
        tenant="school",
        cells=("hall-1", "hall-2", "hall-3", "hall-4"),
        gateway=Part("campus-ingress", "campus", "message let in"),
        front=Part("submission-hall", "hall", "paper accepted"),
        apis=parts("""
seat-register places seat confirmed
paper-vault safe paper sealed
answer-parser scanner answers parsed
identity-proof passport identity proven
timer-service timers clock confirmed
rubric-shelf criteria rubric matched
plagiarism-scan originality match scored
proctor-feed proctors feed joined
"""),
        workers=parts("""
grade-crunch grading paper graded
result-post posting result posted
appeal-filer appeals appeal lodged
stats-roller statistics tally rolled
"""),
        batches=parts("""
moderation-sweep moderation block moderated
archive-bind binding block bound
"""),
        stores=parts("""
papers-pg papers tuple fetched
people-pg people tuple fetched
marks-pg marks tuple fetched
halls-pg halls tuple fetched
"""),
        caches=parts("""
rubric-memo rubrics entry fetched
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
)

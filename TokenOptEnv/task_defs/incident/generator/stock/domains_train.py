"""Businesses of the train and validation splits."""

from __future__ import annotations

from TokenOptEnv.task_defs.incident.generator.stock.domain import Domain, Part, parts

_OTHERS = parts("""
flag-service flags flags read
audit-trail audit entry written
mail-relay mail mail queued
image-resizer images image scaled
locale-service locale texts read
rate-limiter limits quota checked
session-store sessions session read
search-index search query answered
pdf-printer printer page printed
geo-lookup places place found
address-book contacts contact read
fraud-score fraud score given
currency-rates fx rate read
terms-archive terms terms read
barcode-maker codes code drawn
holiday-calendar holidays day checked
consent-keeper consent consent read
webhook-sender hooks hook sent
""")
_RESOLVERS = parts("""
name-cache names name answered
""")

DOMAINS = (
    Domain(
        name="shop",
        unit="checkouts",
        path="/v2/{tenant}/checkouts",
        other_path="/v2/{tenant}/exports",
        tenant="shop",
        cells=("c1", "c2", "c3", "c4"),
        gateway=Part("edge-gateway", "edge", "call passed"),
        front=Part("checkout-api", "checkout", "checkout closed"),
        apis=parts("""
tax-engine levy estimate made
basket-store trolley basket read
price-rules tariff price found
stock-holds reserve hold placed
voucher-service vouchers voucher checked
parcel-quotes parcels quote made
gift-cards gifts card read
loyalty-points rewards points counted
"""),
        workers=parts("""
receipt-writer receipts receipt written
stock-syncer stock level synced
order-mailer notices notice sent
ledger-poster postings entry posted
"""),
        batches=parts("""
sales-report sales chunk read
catalog-rebuild catalog page rebuilt
"""),
        stores=parts("""
orders-db orders row read
catalog-db items row read
customers-db customers row read
stock-db levels row read
"""),
        caches=parts("""
price-cache prices key read
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="insurance",
        unit="renewals",
        path="/api/{tenant}/renewals",
        other_path="/api/{tenant}/statements",
        tenant="brk",
        cells=("north", "south", "east", "west"),
        gateway=Part("front-door", "door", "call passed"),
        front=Part("renewal-desk", "renewal", "renewal offered"),
        apis=parts("""
risk-model exposure risk weighed
policy-vault contracts policy read
claims-view losses claims listed
premium-calc rating premium found
broker-directory brokers broker found
document-forge forms form filled
bonus-ladder discounts step found
cover-matrix covers cover matched
"""),
        workers=parts("""
letter-press letters letter printed
claims-intake intake claim filed
bordereau-feed bordereaux line sent
payment-chaser dunning reminder sent
"""),
        batches=parts("""
reserve-run reserves chunk priced
actuary-extract actuary slice read
"""),
        stores=parts("""
policy-db policies row read
claims-db claims row read
party-db parties row read
money-db movements row read
"""),
        caches=parts("""
tariff-cache tariffs key read
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="rail",
        unit="bookings",
        path="/booking/{tenant}/tickets",
        other_path="/booking/{tenant}/history",
        tenant="agt",
        cells=("z1", "z2", "z3", "z4"),
        gateway=Part("api-lock", "lock", "call passed"),
        front=Part("booking-api", "booking", "booking made"),
        apis=parts("""
seat-map berths seats found
fare-finder pricing fare found
train-graph network route found
pass-check passes pass checked
delay-board lateness delays read
station-guide stations station read
meal-orders meals meal added
bike-spaces bikes space held
"""),
        workers=parts("""
ticket-printer tickets ticket drawn
refund-clerk refunds refund booked
seat-releaser releases seat freed
partner-feed partners offer sent
"""),
        batches=parts("""
timetable-load timetable chunk loaded
yield-study yield sample priced
"""),
        stores=parts("""
seats-db seats row read
fares-db fares row read
journeys-db journeys row read
accounts-db accounts row read
"""),
        caches=parts("""
fare-cache fares key read
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="clinic",
        unit="appointments",
        path="/fhir/{tenant}/appointments",
        other_path="/fhir/{tenant}/extracts",
        tenant="site",
        cells=("p1", "p2", "p3", "p5"),
        gateway=Part("care-gate", "gate", "call passed"),
        front=Part("appointment-desk", "desk", "appointment fixed"),
        apis=parts("""
patient-index persons patient found
room-planner rooms room held
staff-roster duty roster read
referral-box referrals referral read
lab-orders labs order read
allergy-list allergies list read
coverage-check payers cover checked
letter-store letters letter read
"""),
        workers=parts("""
reminder-sender reminders reminder sent
result-router results result routed
billing-coder codes code given
archive-mover archive record moved
"""),
        batches=parts("""
registry-export registry chunk written
bed-forecast beds step counted
"""),
        stores=parts("""
patients-db patients row read
planning-db plans row read
results-db results row read
staff-db staff row read
"""),
        caches=parts("""
roster-cache rosters key read
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
    Domain(
        name="media",
        unit="playbacks",
        path="/play/{tenant}/sessions",
        other_path="/play/{tenant}/reports",
        tenant="pub",
        cells=("ams", "bcn", "cph", "dub"),
        gateway=Part("play-proxy", "proxy", "call passed"),
        front=Part("playback-api", "playback", "session opened"),
        apis=parts("""
rights-check licence right checked
title-facts catalogue title read
stream-picker streams stream picked
ad-slots breaks slots filled
watch-history viewed history read
profile-hub profiles profile read
subtitle-shelf subtitles track found
device-ledger devices device checked
"""),
        workers=parts("""
view-counter views view counted
royalty-meter royalties play booked
thumb-maker thumbs thumb made
history-writer marks mark stored
"""),
        batches=parts("""
trending-job trends chunk ranked
library-scan library shelf scanned
"""),
        stores=parts("""
titles-db titles row read
members-db members row read
plays-db plays row read
rights-db rights row read
"""),
        caches=parts("""
title-cache titles key read
"""),
        resolvers=_RESOLVERS,
        others=_OTHERS,
    ),
)

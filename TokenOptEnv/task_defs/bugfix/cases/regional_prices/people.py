"""What people said: the shop's report and the maintainers' talk, with the guesses people make."""

TICKET = """# Wrong price in the German shop

Reporter: storefront on-call
Component: price-service 5.12 (shelflife 2.4.0)
Severity: 2

## What we see
Customers of the German shop are charged British prices, now and then. Asking again through the same
pod gives the same wrong number until it ages out; another pod may be right.

    $ curl -s 'http://price-7c9f/v1/price?sku=kettle&region=uk' -D-
    x-cache: miss
    {"sku": "kettle", "region": "uk", "minor": 3400}
    $ sleep 12; curl -s 'http://price-7c9f/v1/price?sku=kettle&region=de' -D-
    x-cache: hit; age=12; ttl=60
    {"sku": "kettle", "region": "de", "minor": 3400}

## What we tried
- Restarting a pod helps for a minute.
- ttl 60 -> 5: fewer complaints, so it may be about expiry.
- The upstream itself returns 3900 for de every time (checked 500 times).

## Since when
Price-service 5.12 went out on Monday evening with the new shelflife. 5.11 had 2.3.2.
"""

CHAT = """#shelflife-dev, Wednesday 12 March

16:02 ines    storefront says we hand out an answer that belongs to another call. red test coming
16:04 tom     bet it is the store: get() moves the deadline on every read, so an answer never dies
16:05 tom     my sweep change went out on Monday too. could a call get another one's answer that way?
16:09 ruta    dropping gives a miss, not a wrong hit
16:11 ines    test is up: 30 s on the clock, ttl is 60
16:13 tom     then is_over. I flipped > to >= this morning, one tick off at the border
16:15 ruta    typed keyers also sort by name only, see _types. that one is on purpose
16:20 milo    drive-by: whatever it is, please no repr() of arguments in there, it was slow
16:22 milo    if it is the keywords, append them as they come, named.items(), and save the sort
16:31 ines    price service passes region by name everywhere. shop UK wraps it positionally
16:40 ruta    whoever fixes it: docs/keys.md repeats the rules at the top of the module, all of them have to hold
17:44 ines    pushed. job is red as it should be. off for today
"""

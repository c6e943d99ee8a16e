"""The small papers of the tidemark case: workflow, chat, release ticket."""

WORKFLOW = """\
# .forge/workflows/tests.yml
name: tests
on: {push: {branches: [main]}}

jobs:
  lint:
    runs-on: ubuntu-24.04
    steps:
      - run: ruff check . && ruff format --check .
  test:
    runs-on: ubuntu-24.04
    strategy: {matrix: {python: ["3.11"]}}
    steps:
      - uses: actions/cache@v4
      - run: python -m pip install --no-deps -r requirements/test.txt
      - run: python -m pytest --ignore=tests/test_preview.py
  preview:
    runs-on: ubuntu-24.04
    continue-on-error: true   # features that are not there yet
    steps:
      - run: python -m pytest tests/test_preview.py
  docs:
    if: startsWith(forge.ref, 'refs/tags/')
    steps:
      - run: python -m pip install -r requirements/docs.txt
      - run: mkdocs build --strict
"""

CHAT = """\
#tidemark-dev, Wed 19 Nov
08:02 sam    main is red since the bot's merge this morning. time zones again? it only bumped tzdata
08:05 noor   two tests red in the mail I got, one of them is the yearly one
08:09 piet   first attempt had the cache service answering 503. I'd just press re-run
08:11 sam    flake-watch says the stale lock test keeps flipping. is that what holds run 418 up?
08:21 piet   re-run is on its way
08:40 noor   git blame on the lines I'd suspect says sam, Tuesday afternoon
08:41 sam    that was padding and it came with a test. your select.py rewrite is younger than most of it, too
08:43 noor   same loop, more words
08:55 piet   mine was only about how keys print. the push had five commits in it, let somebody look properly
"""

TICKET = """\
TIDE-208  Release 0.7.0 waits for main
Reporter: release-desk    Opened: 2025-11-19 08:30 UTC    Priority: high

Run 418 is the first of main since run 417; the five commits pushed between Tuesday morning and
Wednesday 06:52 went through no run of their own (merge queue was off for maintenance).
0.7.0 may ship when the commit at fault is reverted or fixed. A red job blocks unless the workflow
says that it may fail.

Customers affected if we ship as is: unknown. Support asks whether old restore points are safe.
"""

"""Artifacts are cut into whole lines within the cap, where a reader would cut them, under titles worth their tokens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from TokenOptEnv.config import SEGMENT_CAP_TOKENS, YARDSTICK
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import Segment
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.segmenter import segment_text

FRAMES = """Traceback (most recent call last):
  File "/srv/main.py", line 31, in main
    run(settings)
  File "/srv/pool.py", line 88, in acquire
    raise PoolTimeout(waited)
PoolTimeout: no connection in 3.0 s"""


def log_line(number: int, message: str = "INFO  [reconciler] consumer group=pay lag=12 partition=7") -> str:
    return f"2026-03-01T12:{number // 60:02d}:{number % 60:02d}.123Z {message}"


def cut(kind: ArtifactKind, text: str) -> tuple[Segment, ...]:
    return segment_text("a", kind, text)


def holding(segments: tuple[Segment, ...], text: str) -> list[Segment]:
    return [segment for segment in segments if text in segment.text]


def test_segments_are_numbered_whole_lines_that_join_to_the_artifact() -> None:
    text = "\n".join(log_line(number) for number in range(80))
    segments = cut(ArtifactKind.LOG, text)
    assert len(segments) > 5
    assert [segment.segment_id for segment in segments] == [f"a-s{n}" for n in range(1, len(segments) + 1)]
    assert "".join(segment.text for segment in segments) == text + "\n"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(ArtifactKind)), st.text(max_size=2_500))
def test_no_text_makes_a_segment_over_the_cap_or_loses_a_character(kind: ArtifactKind, text: str) -> None:
    segments = cut(kind, text)
    assert all(tokens.count(YARDSTICK, segment.text) <= SEGMENT_CAP_TOKENS for segment in segments)
    joined = "".join(segment.text for segment in segments)
    assert joined.replace("\n", "") == text.replace("\n", "")
    assert all(len(segment.title) <= 72 for segment in segments)


def test_a_line_longer_than_a_segment_is_broken_and_its_pieces_share_its_line_number() -> None:
    segments = cut(ArtifactKind.CODE, "\n".join(["x = 1", "y = '" + "ab" * 2_000 + "'", "z = 3"]))
    assert len(segments) > 3
    assert all(tokens.count(YARDSTICK, segment.text) <= SEGMENT_CAP_TOKENS for segment in segments)
    assert segments[1].title.startswith("L2-2")
    assert segments[-1].title.startswith(("L2-3", "L3-3"))


def test_a_stack_trace_stays_with_its_head_line_wherever_it_falls() -> None:
    for lead in range(12):
        lines = [log_line(number) for number in range(lead)]
        lines += [log_line(lead, "ERROR [reconciler] flush failed"), FRAMES]
        lines += [log_line(number) for number in range(lead + 1, lead + 12)]
        trace = holding(cut(ArtifactKind.LOG, "\n".join(lines)), "flush failed\n" + FRAMES + "\n")
        assert len(trace) == 1, f"cut apart after {lead} lines"


def test_a_java_trace_with_its_causes_stays_together() -> None:
    trace = "\n".join(
        [
            log_line(9, "ERROR [orders] request failed"),
            "java.lang.IllegalStateException: pool closed",
            "\tat com.acme.Pool.acquire(Pool.java:88)",
            "Caused by: java.io.IOException: broken pipe",
            "\tat com.acme.Wire.flush(Wire.java:12)",
            "\t... 12 more",
        ]
    )
    text = "\n".join([*(log_line(n) for n in range(7)), trace, *(log_line(n) for n in range(10, 20))])
    assert len(holding(cut(ArtifactKind.LOG, text), trace)) == 1


def test_a_trace_too_long_for_a_segment_is_cut_where_the_segment_is_full() -> None:
    frames = "\n".join(f'  File "/srv/deep.py", line {n}, in level_{n}' for n in range(60))
    segments = cut(ArtifactKind.LOG, log_line(1, "ERROR recursion") + "\n" + frames)
    assert tokens.count(YARDSTICK, segments[0].text) > SEGMENT_CAP_TOKENS * 0.8


def function(name: str, lines: int = 9, indent: str = "") -> str:
    body = "\n".join(f"{indent}    total_{n} = compute(total, weight={n})" for n in range(lines))
    return f"{indent}@traced\n{indent}def {name}(total: int) -> int:\n{body}\n{indent}    return total\n\n"


def test_code_is_cut_above_a_function_and_its_decorator() -> None:
    segments = cut(ArtifactKind.CODE, "".join(function(f"step_{n}") for n in range(8)))
    assert len(segments) > 2
    assert all(segment.text.startswith("@traced\ndef ") for segment in segments)


def test_a_class_longer_than_a_segment_is_cut_between_its_methods() -> None:
    text = "class Ledger:\n" + "".join(function(f"method_{n}", indent="    ") for n in range(8))
    segments = cut(ArtifactKind.CODE, text)
    assert len(segments) > 2
    assert all(segment.text.startswith("    @traced\n    def ") for segment in segments[1:])
    assert segments[1].title.startswith("L") and "…Ledger, method_" in segments[1].title


def test_a_diff_is_cut_at_a_file_or_a_hunk() -> None:
    hunk = "".join(f"+    added_{n} = {n}\n" for n in range(12))
    file = "diff --git a/src/{0}.py b/src/{0}.py\n--- a/src/{0}.py\n+++ b/src/{0}.py\n@@ -1,3 +1,15 @@ def load():\n"
    segments = cut(ArtifactKind.DIFF, "".join(file.format(name) + hunk for name in ("pool", "wire", "order", "cart")))
    assert len(segments) > 1
    assert all(segment.text.startswith("diff --git ") for segment in segments)
    assert segments[0].title.startswith("L1-") and "src/pool.py" in segments[0].title


def test_the_middle_of_a_diff_is_titled_by_its_file() -> None:
    text = "--- a/pool.py\n+++ b/pool.py\n@@ -1,3 +1,90 @@\n" + "".join(f"+    added_{n} = {n}\n" for n in range(90))
    assert "…pool.py" in cut(ArtifactKind.DIFF, text)[1].title


def test_a_log_title_gives_the_time_the_loudness_and_the_first_loud_message() -> None:
    lines = [log_line(1), log_line(2, "WARN  [gateway] upstream slow"), log_line(3, "ERROR [gateway] gave up")]
    title = cut(ArtifactKind.LOG, "\n".join(lines))[0].title
    assert title == "12:00:01 !2 [gateway] upstream slow"


def test_a_word_such_as_error_rate_in_lower_case_is_not_loud() -> None:
    assert cut(ArtifactKind.LOG, log_line(1, "INFO  error budget fine"))[0].title == "12:00:01 error budget fine"


def test_the_message_of_a_structured_line_is_shown_without_its_wrapping() -> None:
    json = '{"ts":"2026-03-01T12:00:01.123Z","level":"warn","msg":"pool slow","wait_ms":90}'
    logfmt = 'ts=2026-03-01T12:00:01.123Z level=error msg="pool slow" wait_ms=90'
    access = '10.0.0.7 - - [01/Mar/2026:12:00:01 +0000] "GET /orders HTTP/1.1" 200 12'
    coloured = "[00:01.996] \x1b[90m$\x1b[0m git checkout main"
    titles = [cut(ArtifactKind.LOG, line)[0].title for line in (json, logfmt, access, coloured)]
    assert titles == [
        '12:00:01 !1 pool slow,"wait_ms":90}',
        "12:00:01 !1 pool slow wait_ms=90",
        '12:00:01 10.0.0.7 - - "GET /orders HTTP/1.1" 200 12',
        "00:01 $ git checkout main",
    ]


def test_entries_of_one_line_each_are_listed_by_id() -> None:
    text = "dep-7713  checkout  2026-03-01 12:00  live\ndep-7712  pricing  2026-03-01 11:00  live\n"
    assert cut(ArtifactKind.HISTORY, text)[0].title == "L1-2 dep-7713 checkout live; dep-7712 pricing live"


def test_titles_of_the_other_kinds_say_what_is_in_them() -> None:
    def title(kind: ArtifactKind, text: str) -> str:
        return cut(kind, text)[0].title

    history = "commit 8f3a2c91d0\nAuthor: A\n\n    Round half up\n\ncommit 11aa22bb33\nAuthor: B\n\n    Cap retries\n"
    assert title(ArtifactKind.HISTORY, history) == "L1-9 8f3a2c91 Round half up; 11aa22bb Cap retries"
    assert title(ArtifactKind.CONFIG, "[pool]\nmax = 4\n[wire]\nttl = 3\n") == "L1-4 pool, max, wire, ttl"
    assert title(ArtifactKind.RUNBOOK, "# Lag\nwords\n## First steps\nmore\n") == "L1-4 Lag, First steps"
    header = "_" * 20
    report = f"{header} test_totals {header}\nE  assert 1 == 2\nFAILED tests/test_a.py::test_sum - AssertionError\n"
    assert title(ArtifactKind.TEST_REPORT, report) == "L1-3 !test_totals, test_sum"


def test_a_title_costs_few_tokens() -> None:
    segments = cut(ArtifactKind.LOG, "\n".join(log_line(number) for number in range(200)))
    assert max(tokens.count(YARDSTICK, segment.title) for segment in segments) <= 36

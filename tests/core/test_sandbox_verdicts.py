"""An agent's own patch: applied, run behind the wall, compared in front of it, and what that is worth in an episode."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import sandboxed
from tests.cases import PATCHES, patches
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, scenario_store
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput, SandboxUnavailable
from TokenOptEnv.evaluation.recorded import read_trace
from TokenOptEnv.evaluation.replay import Replay
from TokenOptEnv.models import FieldScore, RefusalReason, TokenOptEnvObservation
from TokenOptEnv.sandbox import Ran, Sandbox, SandboxedPatches, SandboxLimits, Verdict, judge, syscalls
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.bugfix import FAMILY
from TokenOptEnv.task_defs.bugfix.cases.regional_prices import case as regional_prices
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.commits import KEYS
from TokenOptEnv.task_defs.bugfix.patch import apply_patch, line_of
from TokenOptEnv.task_defs.bugfix.trial import NO_CHANGE, PatchTrial, patch_trial
from TokenOptEnv.task_defs.execution import Call, HiddenTest, Outcome
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import outline
from TokenOptEnv.traces import Trace

SHELFLIFE = regional_prices.SCENARIO_ID
TRAIN, TEST = 100_000, 50_000


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with sandboxed.opened(SandboxLimits()) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def own_patches(box: Sandbox) -> SandboxedPatches:
    return SandboxedPatches(box)


@cache
def generated(number: int) -> Scenario:
    return write_case(outline("bugfix", Difficulty.EASY, number))


def replaced(path: str, old: str, *new: str) -> str:
    """A diff of our own making: the one line with `old` in it becomes `new`."""
    files = regional_prices.FILES
    number = line_of(files, path, old)
    line = files[path].split("\n")[number - 1]
    added = "".join(f"\n+{text}" for text in new)
    return f"--- a/{path}\n+++ b/{path}\n@@ -{number} +{number},{len(new)} @@\n-{line}{added}"


BUGGY = "*sorted(named))"
MENDED = "            key += (_KEYWORDS, *sorted((name, named[name]) for name in named))"
OWN = replaced(KEYS, BUGGY, MENDED)
"""A repair in other words than any that was recorded."""


def attacking(*lines: str) -> str:
    """The repair, with something else beside it, in the body of the method."""
    return replaced(KEYS, BUGGY, *(f"            {line}" for line in lines), MENDED)


# --- verdicts


@pytest.mark.parametrize("name", sorted(FAMILY.designed))
def test_every_patch_of_a_designed_case_gets_the_verdict_that_was_recorded(
    own_patches: SandboxedPatches, name: str
) -> None:
    case = scenario_store.load(name)
    assert case.hidden.verdicts
    got = {patch: own_patches.passes(case, patch) for patch in case.hidden.verdicts}
    assert got == case.hidden.verdicts


@pytest.mark.parametrize("number", [TRAIN, TEST])
def test_so_does_every_patch_of_a_generated_one(own_patches: SandboxedPatches, number: int) -> None:
    case = generated(number)
    assert own_patches.covers(case)
    got = {patch: own_patches.passes(case, patch) for patch in case.hidden.verdicts}
    assert got == case.hidden.verdicts


def test_a_repair_in_words_of_its_own_passes(own_patches: SandboxedPatches) -> None:
    case = scenario_store.load(SHELFLIFE)
    assert OWN not in case.hidden.verdicts
    assert own_patches.verdict(case, OWN) is Verdict.PASSED
    assert own_patches.verdict(case, OWN + "\n") is Verdict.PASSED


def test_a_patch_may_show_the_lines_around_it(own_patches: SandboxedPatches) -> None:
    lines = regional_prices.FILES[KEYS].split("\n")
    number = line_of(regional_prices.FILES, KEYS, BUGGY)
    body = f" {lines[number - 2]}\n-{lines[number - 1]}\n+{MENDED}\n {lines[number]}"
    patch = f"--- a/{KEYS}\n+++ b/{KEYS}\n@@ -{number - 1},3 +{number - 1},3 @@\n{body}"
    assert own_patches.verdict(scenario_store.load(SHELFLIFE), patch) is Verdict.PASSED


def test_a_change_to_the_visible_tests_neither_helps_nor_harms(own_patches: SandboxedPatches) -> None:
    path = "tests/test_memo.py"
    first = regional_prices.FILES[path].split("\n")[0]
    defused = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{first}\n+raise SystemExit"
    case = scenario_store.load(SHELFLIFE)
    assert own_patches.verdict(case, defused) is Verdict.FAILED
    assert own_patches.verdict(case, f"{OWN}\n{defused}") is Verdict.PASSED


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "it should sort the items",
        f"--- a/{KEYS}\n+++ b/{KEYS}\n@@ -1 +1 @@\n-no such line\n+x",
        f"--- a/{KEYS}\n+++ b/{KEYS}\n@@ -99999 +99999 @@\n-x\n+y",
        "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -0,0 +1 @@\n+root::0:0::/:",
        "--- /dev/null\n+++ b/sitecustomize.py\n@@ -0,0 +1 @@\n+import os",
        "--- a/shelflife/keys.py\n+++ b//build/shelflife/keys.py\n@@ -0,0 +1 @@\n+x = 1",
    ],
)
def test_what_is_no_diff_of_this_package_does_not_fit(own_patches: SandboxedPatches, patch: str) -> None:
    assert own_patches.verdict(scenario_store.load(SHELFLIFE), patch) is Verdict.DOES_NOT_FIT


@given(
    st.lists(
        st.sampled_from(
            [
                f"--- a/{KEYS}",
                f"+++ b/{KEYS}",
                "+++ b/x",
                "@@ -1 +1 @@",
                "@@ -0,0 +1,9 @@",
                "@@ -46,0 @@",
                "-x",
                "+",
                " ",
                "",
            ]
        )
        | st.text(max_size=20)
    )
)
def test_whatever_is_submitted_it_fits_or_it_does_not(lines: list[str]) -> None:
    try:
        apply_patch(regional_prices.FILES, "\n".join(lines))
    except BadInput as fault:
        assert "\n" not in str(fault)


@pytest.mark.parametrize(
    "patch, verdict",
    [
        (replaced(KEYS, BUGGY, "  this is not Python"), Verdict.FAILED),
        (attacking("import os; os._exit(0)"), Verdict.CRASHED),
        (attacking("raise SystemExit"), Verdict.CRASHED),
        (attacking("import os; os.write(3, b'x' * 10**7)"), Verdict.TOO_LONG),
        (attacking("import json; json.JSONEncoder.encode = lambda *_: '[]'"), Verdict.FAILED),
        (attacking("import builtins; builtins.repr = lambda _: 'True'"), Verdict.FAILED),
    ],
)
def test_each_way_to_go_wrong_has_its_verdict(own_patches: SandboxedPatches, patch: str, verdict: Verdict) -> None:
    """Every one of the attacks mends the bug as well: what fails is the attack."""
    assert own_patches.verdict(scenario_store.load(SHELFLIFE), patch) is verdict


class Counting(Sandbox):
    """Counts what is run."""

    def __init__(self, limits: SandboxLimits) -> None:
        super().__init__(limits)
        self.runs = 0

    def run(
        self,
        files: Mapping[str, str],
        calls: Sequence[Call],
        compiled: Mapping[str, bytes] | None = None,
        roots: Sequence[str] = (".", "src"),
    ) -> Ran:
        self.runs += 1
        return super().run(files, calls, compiled or {}, roots)


@pytest.mark.usefixtures("box")
def test_a_time_out_is_a_verdict_of_its_own_and_comes_after_a_second_run() -> None:
    trial = patch_trial(scenario_store.load(SHELFLIFE))
    assert trial is not None
    with Counting(SandboxLimits(wall_s=1.5)) as counting:
        assert judge(counting, trial, attacking("import time; time.sleep(60)")) is Verdict.TIMED_OUT
        assert counting.runs == 2
        assert judge(counting, trial, attacking("raise SystemExit")) is Verdict.CRASHED
        assert counting.runs == 3


def test_what_is_expected_cannot_be_found_by_looking_for_it(box: Sandbox) -> None:
    """A patch passes that finds what it should give anywhere in its memory; the inputs, which it needs, are found."""
    code = f"{sandboxed.MEMORY_SEARCH}\ndef go(name): return found(b'zebra-cross[i]ng'), found(b'zebra-in[p]ut')\n"
    call = Call("search", "go", ("zebra-input",))
    expected = HiddenTest("nothing is found", call, Outcome(("(False, True)", "zebra-crossing")))
    ran = box.run({"search.py": code}, [call])
    assert ran.outcomes[0].values == ("(False, True)",)
    assert judge(box, PatchTrial({"search.py": code}, (expected,)), NO_CHANGE) is Verdict.FAILED


def test_verdicts_are_the_same_in_another_sandbox(own_patches: SandboxedPatches) -> None:
    case = scenario_store.load(SHELFLIFE)
    tried = [*case.hidden.verdicts, OWN, attacking("import os; os._exit(0)"), attacking("import json; json.x = 1")]
    with Sandbox() as other:
        again = SandboxedPatches(other)
        assert [own_patches.verdict(case, patch) for patch in tried] == [again.verdict(case, patch) for patch in tried]


def test_where_nothing_is_at_fault_a_change_is_not_the_answer(own_patches: SandboxedPatches) -> None:
    numbers = range(TRAIN, TRAIN + 100)
    sound = next(generated(number) for number in numbers if outline("bugfix", Difficulty.EASY, number).no_fault)
    assert sound.hidden.verdicts[NO_CHANGE]
    trial = patch_trial(sound)
    assert trial is not None
    path = next(path for path in trial.files if path.endswith(".py") and trial.files[path])
    harmless = f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n+# reviewed"
    assert judge(own_patches.sandbox, trial, harmless) is Verdict.PASSED
    assert own_patches.verdict(sound, harmless) is Verdict.FAILED
    assert own_patches.verdict(sound, NO_CHANGE) is Verdict.PASSED


# --- in an episode


class Unwanted:
    """A judge whom nobody may ask."""

    def covers(self, scenario: Scenario) -> bool:
        return True

    def passes(self, scenario: Scenario, patch: str) -> bool:
        raise AssertionError("a patch was run")


def submitted(env: LocalEnv, patch: str) -> TokenOptEnvObservation:
    """The easy designed case, read and answered in the agent's own words."""
    evidence = ("ticket-storefront-s1", "code-keys-s1", "code-keys-s2")
    env.reset(SHELFLIFE, memory_tokens=50_000)
    for artifact_id in ("ticket-storefront", "code-keys"):
        seen = env.step(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact_id))
    held = {item.item_id for item in seen.working_memory.items}
    missing = tuple(name for name in evidence if name not in held)
    env.step(TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=missing))
    return env.step(
        TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            answer={"file": KEYS, "function": "Keyer.key", "line": "46", "patch": patch},
            evidence_segment_ids=evidence,
        )
    )


def field(seen: TokenOptEnvObservation, name: str) -> FieldScore:
    assert seen.score is not None
    return next(score for score in seen.score.fields if score.name == name)


def test_in_the_solver_track_an_own_repair_solves_the_case(own_patches: SandboxedPatches) -> None:
    seen = submitted(LocalEnv(patch_judge=own_patches, track="solver"), OWN)
    assert seen.score is not None and seen.score.success
    assert field(seen, "patch").right


def test_and_an_own_patch_that_repairs_nothing_does_not(own_patches: SandboxedPatches) -> None:
    wrong = replaced(KEYS, BUGGY, "            key += (_KEYWORDS, *sorted(named), len(named))")
    seen = submitted(LocalEnv(patch_judge=own_patches, track="solver"), wrong)
    assert not field(seen, "patch").right and field(seen, "file").right


def test_a_patch_whose_verdict_is_known_is_not_run_again() -> None:
    case = scenario_store.load(SHELFLIFE)
    for patch, passed in case.hidden.verdicts.items():
        seen = submitted(LocalEnv(patch_judge=Unwanted(), track="solver"), patch)
        assert field(seen, "patch").right is passed


def test_in_the_controller_track_no_patch_is_run_and_a_judge_changes_nothing() -> None:
    with_judge, without = (submitted(env, OWN) for env in (LocalEnv(patch_judge=Unwanted()), LocalEnv()))
    assert with_judge == without
    assert not field(with_judge, "patch").right and not field(with_judge, "patch").backed


def test_the_same_episode_is_the_same_trace_and_its_fork_is_judged_alike(own_patches: SandboxedPatches) -> None:
    texts = []
    for _ in range(2):
        env = LocalEnv(patch_judge=own_patches, track="solver")
        trace = Trace(env.reset(SHELFLIFE, seed=1))
        action = TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": OWN})
        twin = env.fork()
        seen = env.step(action)
        assert seen == twin.step(action)
        trace.add(action, seen)
        texts.append(trace.to_jsonl())
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("box")
def test_a_trace_with_an_own_patch_is_replayed_to_the_same_bytes(tmp_path: Path) -> None:
    """Nobody hands a judge to whoever checks a trace: it is this process's own."""
    env = LocalEnv(track="solver")
    trace = Trace(env.reset(SHELFLIFE, seed=2))
    action = TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": OWN})
    seen = env.step(action)
    trace.add(action, seen)
    assert field(seen, "patch").right
    file = tmp_path / "trace.jsonl"
    file.write_text(trace.to_jsonl())
    assert Replay(read_trace(file)).departure() is None
    forged = file.read_text().replace('"name":"patch","right":true', '"name":"patch","right":false')
    file.write_text(forged)
    assert Replay(read_trace(file)).departure() is not None


def test_a_step_that_may_run_a_patch_is_one_that_waits(own_patches: SandboxedPatches) -> None:
    env = LocalEnv(patch_judge=own_patches)
    waits = []
    for track in ("controller", "solver"):
        env.reset(SHELFLIFE, track=track)
        waits.append(env.waits)
    env.reset("incident-easy-checkout-estimates", track="solver")
    assert [*waits, env.waits] == [False, True, False]


@pytest.mark.usefixtures("store")
def test_a_case_without_a_package_of_ours_takes_no_own_patch(own_patches: SandboxedPatches) -> None:
    assert not own_patches.covers(patches())
    env = LocalEnv(patch_judge=own_patches, track="solver")
    env.reset(PATCHES)
    seen = env.step(TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": "--- a/mine"}))
    assert seen.last_tool_result is not None and seen.last_tool_result.refusal is not None
    assert seen.last_tool_result.refusal.reason is RefusalReason.SANDBOX_UNAVAILABLE


# --- where there is no wall, nothing runs


def without(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str | None) -> None:
    """A machine whose bwrap is this script, or that has none."""
    if script is not None:
        fake = folder / "bwrap"
        fake.write_text(script)
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    "script, cause",
    [
        (None, "install bubblewrap"),
        ("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", "No permissions"),
        ("#!/bin/sh\nexit 0\n", "without a word"),
        ("no program at all", "cannot be started"),
        ('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n', "failed"),
    ],
    ids=["none", "forbidden", "silent", "broken", "no wall at all"],
)
def test_without_a_wall_the_reason_is_one_line_and_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None, cause: str
) -> None:
    without(monkeypatch, tmp_path, script)
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable) as told:
        sandbox.run({"a.py": f"open({str(tmp_path / 'ran')!r}, 'w')"}, [Call("a", "x")])
    assert cause in str(told.value) and "\n" not in str(told.value)
    assert "docs/sandbox.md" in str(told.value)
    assert not (tmp_path / "ran").exists()


def test_an_own_patch_then_leaves_the_episode_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, tmp_path, None)
    env = LocalEnv(patch_judge=SandboxedPatches(Sandbox()), track="solver")
    env.reset(SHELFLIFE)
    own = TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": OWN})
    with pytest.raises(SandboxUnavailable, match="bubblewrap"):
        env.step(own)
    assert (env.state.step_count, env.state.done) == (0, False)
    known = TokenOptEnvAction(
        action_type=ActionType.SUBMIT_ANSWER,
        answer={"patch": next(iter(scenario_store.load(SHELFLIFE).hidden.verdicts))},
    )
    assert env.step(known).done


def test_the_command_says_so_and_fails(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from TokenOptEnv.cli.main import main; main()", "bench", "sandbox"],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("camre: no sandbox for patches here: ") and done.stderr.count("\n") == 1


def test_the_bench_runs_recorded_patches_and_finds_their_verdicts(box: Sandbox) -> None:
    from TokenOptEnv.evaluation import bench_sandbox

    report = bench_sandbox.run(0.1)
    assert report.wrong == 0 and report.verdicts_per_s > 0
    assert sorted(report.scenarios) == sorted(FAMILY.designed)
    assert set(report.verdicts) == {"passed", "failed"}


@pytest.mark.usefixtures("box")
def test_the_example_of_the_page_runs_as_it_stands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
    example = page.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "failed\n", "")


# --- the table of calls


def test_a_filter_is_written_for_machines_that_it_knows_and_for_no_other() -> None:
    for machine in ("x86_64", "aarch64"):
        numbers = syscalls.numbers(machine)
        assert len(set(numbers.values())) == len(numbers)
        assert len(syscalls.filter_program(machine)) == 8 * (len(numbers) + 9)
    with pytest.raises(SandboxUnavailable, match="riscv64"):
        syscalls.filter_program("riscv64")


def test_no_call_is_listed_that_reaches_beyond_the_process() -> None:
    forbidden = (
        "clone3 fork vfork execve execveat socket socketpair connect bind ptrace process_vm_readv process_vm_writev"
        " mount umount2 pivot_root chroot unshare setns setuid setgid setresuid capset prctl seccomp bpf keyctl add_key"
        " perf_event_open userfaultfd io_uring_setup memfd_create shmget msgget semget mq_open open_by_handle_at"
        " pidfd_open pidfd_getfd init_module kexec_load reboot swapon mknod mknodat chown personality"
    )
    for machine in ("x86_64", "aarch64"):
        assert not set(forbidden.split()) & set(syscalls.numbers(machine))

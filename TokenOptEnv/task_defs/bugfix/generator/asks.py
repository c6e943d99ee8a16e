"""How questions are worded: with the words of their evidence, or in others. Each split asks in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.generation import Split


@dataclass(frozen=True)
class Wordings:
    """`lexical` share words with the evidence, the last by a list of them; `plain` do not; `again` ask it once more."""

    lexical: tuple[str, ...]
    plain: tuple[str, ...]
    again: tuple[str, ...]


_TRAIN: dict[str, Wordings] = {
    "survey": Wordings(
        (
            "Over every nightly: at which commit did the watched test turn red for good? Give the short id.",
            "The watched test was green and is RED now: at which commit did the red nights begin that last? Short id.",
        ),
        (
            "Going through all results one by one: which checkout opened the unbroken bad streak? Give its short id.",
            "Since when is it bad without a break? Compare all results and give the short id that was checked out.",
        ),
        ("Which checkout did the lasting failure start with?", "Since which commit do all runs fail?"),
    ),
    "since": Wordings(
        (
            "Which commit after the last green run of this job touched '{promise}'? Short id.",
            "Since the last green run of this job, which commit changed '{words}'? Short id.",
            "Last green run of this job, then which commit on '{promise}' ({words})? Short id.",
            "Which commit after the last green run of this job is it (keywords: {hints})? Short id.",
        ),
        (
            "Which change is behind it, of those that came after things were last in order? Give its short id.",
            "Whose edit altered behaviour while it claimed to tidy up? Give the short id.",
        ),
        ("Which commit since the last good run brought it in?", "Which revision is responsible?"),
    ),
    "locate": Wordings(
        (
            "Which file and function give '{symptom}' against '{promise}'? Or none.",
            "'{promise}' fails as '{symptom}': which file and function? Or none.",
            "{test}: which file and function break '{promise}'? Or none.",
            "{test} with '{symptom}': which file and function? Or none.",
            "Which file and function are at fault (keywords: {hints})? Or none.",
        ),
        (
            "What in the present code explains the red night? Name file and function, or none if it is sound.",
            "Where does it go wrong today: which file, which function? Answer none if nowhere.",
        ),
        ("Which function is to blame for the red test?", "In which file and function is the defect?"),
    ),
    "line": Wordings(
        (
            "Which line number breaks '{promise}', seen as '{symptom}'? Or none.",
            "Which line of what says '{promise}' is wrong? Its number, or none.",
            "{test}: which line number breaks '{promise}'? Or none.",
            "Which line number is wrong (keywords: {hints})? Or none.",
        ),
        (
            "Which single line has to change today? Give its number in the file, or none.",
            "Where exactly is the slip? A line number, or none if there is none now.",
        ),
        ("Which line number is wrong?", "What is the number of the faulty line?"),
    ),
    "repair": Wordings(
        (
            "'{promise}': which line breaks that, and which minimal diff keeps it? Or none.",
            "Which minimal diff makes '{promise}' and '{words}' hold again, in which line? Or none.",
            "{test}: which line and minimal diff keep '{promise}'? Or none.",
            "Which line and which minimal diff (keywords: {hints})? Or none.",
        ),
        (
            "Which line has to change and how, as a minimal diff that breaks no documented rule? None if none has.",
            "What is the smallest change that puts it right in every case, and in which line? None if it is right.",
        ),
        ("Which one-line diff repairs it?", "How is the faulty line put right?"),
    ),
    "fix": Wordings(
        (
            "File, function, line and diff for '{symptom}' against '{promise}'? Or none.",
            "{test}: file, function, line and diff for '{promise}'? Or none.",
            "{test} with '{symptom}': file, function, line, diff? Or none.",
            "Which file, function, line and diff (keywords: {hints})? Or none.",
        ),
        (
            "What in the present code is wrong: file, function, line, and the smallest diff? None if nothing is.",
            "Where is it broken today and how is it mended: file, function, line, diff? None if it is not.",
        ),
        ("Which place is broken and what mends it?", "Which diff repairs the red test, and where?"),
    ),
    "run": Wordings(
        (
            "Which nightly was the last green one of the watched test before it stayed RED? Give its number.",
            "The watched test: number of the last green nightly before the red ones that last?",
        ),
        ("Which was the last good result before the unbroken bad streak? Give its number.",),
        ("Which run was the last good one?", "What was the number of the last success?"),
    ),
    "begin": Wordings(
        (
            "At which commit did the watched test turn RED for good, after its last green nightly? Short id.",
            "The watched test was green at one commit and RED at the next: which is the first red one? Short id.",
        ),
        (
            "Which checkout opened the unbroken bad streak? Give its short id.",
            "Since when is it bad without a break? Give the short id that was checked out.",
        ),
        ("Which checkout did the lasting failure start with?", "Since which commit do all runs fail?"),
    ),
    "later": Wordings(
        (
            "After {commit}, which commit touched the same function again? Short id.",
            "Which later commit is about the function that {commit} was about? Short id.",
        ),
        (
            "Who came back to the place of {commit}? Give that change's short id.",
            "What followed on {commit} at the same place? Short id.",
        ),
        ("Which change came later at that place?", "What was done there afterwards?"),
    ),
}

_TEST: dict[str, Wordings] = {
    "survey": Wordings(
        (
            "Taking each cron run: from which revision on does the tracked check FAIL without exception? Short id.",
            "Which revision had the first cron run whose tracked check says FAIL and never ok again? Short id.",
        ),
        (
            "Weighing all outcomes: what was checked out when things went wrong permanently? Short id.",
            "Identify the start of the permanent failure across all outcomes; answer with the short id.",
        ),
        ("Start of the permanent failure?", "Which revision do failures persist from?"),
    ),
    "since": Wordings(
        (
            "After the previous success of this workflow, which revision edited '{promise}'? Short id.",
            "Previous success of this workflow, then which revision edited '{words}'? Short id.",
            "Revision after the previous success of this workflow for '{promise}' ({words})? Short id.",
            "Revision after the previous success of this workflow, terms {hints}? Short id.",
        ),
        (
            "Name the short id of the edit that introduced the defect since things were fine.",
            "Which edit did more than it announced? Short id.",
        ),
        ("Which edit introduced the defect?", "Short id of the offending revision?"),
    ),
    "locate": Wordings(
        (
            "File and function contradicting '{promise}' with '{symptom}'? Else none.",
            "'{symptom}' versus '{promise}': defective file and function? Else none.",
            "{test}: file and function violating '{promise}'? Else none.",
            "{test} and '{symptom}': file and function? Else none.",
            "Defective file and function, terms {hints}? Else none.",
        ),
        (
            "Name the defective file and function of the current sources, or none if they are sound.",
            "Which part of the current sources misbehaves (file, function)? None if no part does.",
        ),
        ("Defective file and function?", "Which part of the sources misbehaves?"),
    ),
    "line": Wordings(
        (
            "Line number violating '{promise}' with '{symptom}'? Else none.",
            "In the routine documented '{promise}', which line number? Else none.",
            "{test}: line number violating '{promise}'? Else none.",
            "Defective line number, terms {hints}? Else none.",
        ),
        ("State the number of the defective line, or none.", "Which line number needs editing now? Else none."),
        ("Number of the defective line?", "Which line needs editing?"),
    ),
    "repair": Wordings(
        (
            "Defective line and smallest diff for '{promise}'? Else none.",
            "Smallest diff and its line so that '{promise}' and '{words}'? Else none.",
            "{test}: line and smallest diff for '{promise}'? Else none.",
            "Defective line and smallest diff, terms {hints}? Else none.",
        ),
        (
            "State the defective line and the smallest diff compatible with all documentation, or none.",
            "Line and smallest safe diff? None if nothing is defective.",
        ),
        ("Smallest diff that removes the defect?", "How should the defective line read?"),
    ),
    "fix": Wordings(
        (
            "File, function, line, smallest diff: '{symptom}' versus '{promise}'? Else none.",
            "{test}: file, function, line, smallest diff for '{promise}'? Else none.",
            "{test} and '{symptom}': file, function, line, diff? Else none.",
            "File, function, line, smallest diff, terms {hints}? Else none.",
        ),
        (
            "Name file, function and line of the defect and the smallest diff, or none if the sources are sound.",
            "Full location of the defect (file, function, line) plus smallest diff? Else none.",
        ),
        ("Location and cure of the defect?", "Where is the defect and what removes it?"),
    ),
    "run": Wordings(
        (
            "Number of the last cron run with tracked check ok ahead of the lasting FAIL results?",
            "Which cron run was the final ok of the tracked check? Number only.",
        ),
        ("Number of the final success before the permanent failure?",),
        ("Last success, by number?", "Number of the final good outcome?"),
    ),
    "begin": Wordings(
        (
            "At which revision did the tracked check turn to FAIL for good after its last ok cron run? Short id.",
            "First revision whose tracked check says FAIL with no ok cron run behind it? Short id.",
        ),
        (
            "What was checked out when things went wrong permanently? Short id.",
            "Identify the start of the permanent failure by short id.",
        ),
        ("Start of the permanent failure?", "Which revision do failures persist from?"),
    ),
    "later": Wordings(
        (
            "Following {commit}, which commit edits the same routine? Short id.",
            "Next commit on the routine of {commit}? Short id.",
        ),
        (
            "Which edit revisits what {commit} did? Short id.",
            "Short id of the follow-up at the place of {commit}?",
        ),
        ("Which edit revisits that place?", "Follow-up at the same routine?"),
    ),
}


def wordings(split: Split, kind: str) -> Wordings:
    return (_TEST if split is Split.TEST else _TRAIN)[kind]

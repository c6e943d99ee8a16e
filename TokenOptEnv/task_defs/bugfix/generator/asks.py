"""How questions are worded: with the words of their evidence, or in others. Each split asks in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.generation import Split


@dataclass(frozen=True)
class Wordings:
    """`lexical` share words with the evidence, `plain` do not; `again` are ways to ask the same once more."""

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
            "Between the last green run of this job and {nightly} {number}, which commit changed whether {words}? Short id.",
            "Which commit after the last green run of this job touched what '{promise}' is about? Short id.",
        ),
        (
            "Which change is behind it, of those that came after things were last in order? Give its short id.",
            "Whose edit altered behaviour while it claimed to tidy up? Give the short id.",
        ),
        ("Which commit since the last good run brought it in?", "Which revision is responsible?"),
    ),
    "locate": Wordings(
        (
            "{test} fails with '{symptom}'. Which file and function do not keep '{promise}'? Say none if all do.",
            "Which file and function are at fault when '{symptom}' and '{promise}' do not go together? Or none.",
        ),
        (
            "What in the present code explains the red night? Name file and function, or none if it is sound.",
            "Where does it go wrong today: which file, which function? Answer none if nowhere.",
        ),
        ("Which function is to blame for the red test?", "In which file and function is the defect?"),
    ),
    "line": Wordings(
        (
            "By its number, which line breaks '{promise}', which {test} checks? Or none.",
            "Which line of the function that says '{promise}' is wrong? Give its number, or none.",
        ),
        (
            "Which single line has to change today? Give its number in the file, or none.",
            "Where exactly is the slip? A line number, or none if there is none now.",
        ),
        ("Which line number is wrong?", "What is the number of the faulty line?"),
    ),
    "repair": Wordings(
        (
            "'{promise}': which line breaks that, and and which minimal diff keeps it, as the old code did? Or none.",
            "Which line and which minimal diff make '{promise}' hold again as before? None if it holds.",
        ),
        (
            "Which line has to change and how, as a minimal diff that breaks no documented rule? None if nothing has to.",
            "What is the smallest change that puts it right in every case, and in which line? None if it is right.",
        ),
        ("Which one-line diff repairs it?", "How is the faulty line put right?"),
    ),
    "fix": Wordings(
        (
            "{test} says '{symptom}': which file, function and line break '{promise}', and which diff mends it? Or none.",
            "Which file, function, line and diff for '{promise}', seen as '{symptom}'? None if all is right.",
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
    "author": Wordings(
        (
            "Who is the Author of commit {commit}? Give the name.",
            "Which Author stands at commit {commit}?",
        ),
        ("Whose work was {commit}? Give the full name.",),
        ("Who wrote the commit it began with?", "Who made that change?"),
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
            "Which revision after the previous success of this workflow altered whether {words}? Short id.",
            "After the previous success of this workflow, which commit modified '{promise}'? Short id.",
        ),
        (
            "Name the short id of the edit that introduced the defect since things were fine.",
            "Which edit did more than it announced? Short id.",
        ),
        ("Which edit introduced the defect?", "Short id of the offending revision?"),
    ),
    "locate": Wordings(
        (
            "Given '{symptom}' in {test}: which file and function violate '{promise}'? Else none.",
            "File and function that contradict '{promise}', see '{symptom}'? Else none.",
        ),
        (
            "Name the defective file and function of the current sources, or none if they are sound.",
            "Which part of the current sources misbehaves (file, function)? None if no part does.",
        ),
        ("Defective file and function?", "Which part of the sources misbehaves?"),
    ),
    "line": Wordings(
        (
            "Number of the line that violates '{promise}' (compare {test})? Else none.",
            "In the routine documented as '{promise}', which line number is defective? Else none.",
        ),
        ("State the number of the defective line, or none.", "Which line number needs editing now? Else none."),
        ("Number of the defective line?", "Which line needs editing?"),
    ),
    "repair": Wordings(
        (
            "Defective line and smallest diff so that '{promise}' is true again, as in the old code? Else none.",
            "To satisfy '{promise}' like before: which line, which smallest diff? Else none.",
        ),
        (
            "State the defective line and the smallest diff compatible with all documentation, or none.",
            "Line and smallest safe diff? None if nothing is defective.",
        ),
        ("Smallest diff that removes the defect?", "How should the defective line read?"),
    ),
    "fix": Wordings(
        (
            "'{symptom}' in {test} versus '{promise}': file, function, line and smallest diff? Else none.",
            "File, function, line and smallest diff restoring '{promise}' ('{symptom}')? Else none.",
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
    "author": Wordings(
        ("Which Author recorded commit {commit}?", "Author of commit {commit}, full name?"),
        ("Who is responsible for {commit}? Full name.",),
        ("Who recorded the first bad revision?", "Author of that revision?"),
    ),
}


def wordings(split: Split, kind: str) -> Wordings:
    return (_TEST if split is Split.TEST else _TRAIN)[kind]

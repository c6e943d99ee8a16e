"""How people and machines speak in generated cases. Test has voices of its own, so that no wording is learnt by heart.

Every template serves cases with a fault and cases without, and guilty and innocent functions alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.generation import Split


@dataclass(frozen=True)
class Voice:
    people: tuple[str, ...]
    months: tuple[tuple[int, int], ...]
    """Years and months that stories play in."""
    runners: tuple[str, ...]
    nightly: str
    """What the nightly run is called: `nightly` or `night build`."""
    title: tuple[str, ...]
    brief: tuple[str, ...]
    unfolded: tuple[str, ...]
    renamed: tuple[str, ...]
    documented: tuple[str, ...]
    annotated: tuple[str, ...]
    tested: tuple[str, ...]
    released: tuple[str, ...]
    bodies: tuple[str, ...]
    ticket: tuple[str, ...]
    suspicion: tuple[str, ...]
    doubt: tuple[str, ...]
    advice: tuple[str, ...]
    began: tuple[str, ...]
    small_talk: tuple[str, ...]
    phases: tuple[str, str, str]
    """The briefs of a marathon's phases: nights, code, history."""


_TRAIN = Voice(
    people=(
        "Ines Varga",
        "Tom Okafor",
        "Ruta Lind",
        "Amara Diallo",
        "Jonas Weil",
        "Priya Nair",
        "Milo Hart",
        "Sofia Brandt",
        "Kenji Mori",
        "Lea Fontaine",
        "Omar Haddad",
        "Nina Petrov",
    ),
    months=((2024, 2), (2024, 4), (2024, 6), (2024, 9), (2024, 11), (2025, 1), (2025, 3), (2025, 5)),
    runners=("linux-small", "linux-large", "build-amd", "fleet-west"),
    nightly="nightly",
    title=("{package}: red {nightly} {number}", "{package}: what broke {nightly} {number}?"),
    brief=(
        "{about}. {Nightly} {number} of main ({version}, unchanged for {hours} hours) is red: the test that says "
        '"{symptom}" fails. Find what is at fault in the code as it stands: file, function and line, and a minimal '
        "unified diff that keeps what the package documents. If nothing there is at fault, say so.",
        "{about}. On main ({version}, unchanged for {hours} hours) {nightly} {number} came back red. The failing test "
        'says "{symptom}". Say which file, function and line of the present code is wrong and give a minimal '
        "unified diff that keeps every documented rule, or say that the present code is right.",
    ),
    unfolded=(
        "Inline a variable in {function}",
        "Say it in one line in {function}",
        "Drop a needless name in {function}",
    ),
    renamed=("Better names in {function}", "Rename a local in {function}", "Spell names out in {function}"),
    documented=("Say what {function} promises", "Document {function}", "More words about {function}"),
    annotated=("Annotate {function}", "Type of what {function} returns", "Add a return type to {function}"),
    tested=("Test that {words}", "Another test: {words}"),
    released=("Release {version}", "Bump to {version}"),
    bodies=(
        "No change in behaviour.",
        "Came up in review.",
        "Part of the spring clean; nothing else in here.",
        "The reader should not have to keep it in mind.",
        "Asked for by the linter.",
        "Left over from the last refactoring.",
        "As agreed on Thursday.",
    ),
    ticket=(
        "# {Nightly} {number} is red\n\nOpened by: {reporter}\nComponent: {package} {version}\n\n## Report\n"
        "{Nightly} {number} of {package} failed in {module}. The watched test says: {symptom}.\n"
        "The log of the run is attached as job {number}; git log -p covers the last weeks.\n"
        "A colleague saw the same in production: results look plausible and are wrong in one case.\n",
        "# {package}: {symptom}, or does it?\n\nOpened by: {reporter}\nSeen in: {nightly} {number}\n"
        "Version: {version}\n\n## Report\nThat test, the watched one, was red this night, in {module}.\n"
        "See job {number} for the whole run, and the commits since.\n",
    ),
    suspicion=(
        "{function} explains the red night if you ask me, somebody was in there in {sha}",
        "what goes wrong is in {function}, since {sha}",
        "the line to change today is in {function}, it was tidied in {sha}",
        "I would name {function} ({sha})",
    ),
    doubt=(
        "is the present code not sound? the red night may be a run of something old",
        "where is it broken today? maybe nowhere, and only the run is old",
        "nothing may be wrong in the present code by now, the checkout can be behind main",
    ),
    advice=(
        "whatever it is, `{code}` reads better to me at that place",
        "could it simply be `{code}`? the test would be green",
        "I tried `{code}` there and my test went green",
    ),
    began=(
        "the change behind it is {sha}, things were in order before",
        "since {sha} it is bad without a break",
        "{sha} claimed to tidy up and altered behaviour, I think",
    ),
    small_talk=(
        "lunch at one?",
        "unrelated: the docs build is green again",
        "can somebody renew the token of the badge service, please",
        "I am out from three on",
        "the runner update is done, by the way",
        "retro is moved to Friday",
    ),
    phases=(
        "First shift: the nights before {nightly} {number}. Find out since when it is red; note what the others need.",
        "Second shift: the code of {package} as it stands, without logs. Find out what is at fault in it, if anything.",
        "Third shift: the history. Go from the commit that the first shift found to the change that is needed now.",
    ),
)

_TEST = Voice(
    people=(
        "Hanna Kowalski",
        "Diego Salas",
        "Yuki Tanabe",
        "Femi Adeyemi",
        "Clara Holm",
        "Rashid Khan",
        "Zora Novak",
        "Peter Quist",
        "Mei Lindqvist",
        "Anton Berger",
        "Gloria Reyes",
        "Tariq Aziz",
    ),
    months=((2023, 3), (2023, 5), (2023, 8), (2023, 10), (2025, 7), (2025, 8), (2025, 9)),
    runners=("pool-ubuntu", "hosted-x64", "spot-eu", "metal-arm"),
    nightly="cron run",
    title=("{package}: cron run {number} failed", "Failing cron run {number} of {package}"),
    brief=(
        "{about}. Cron run {number} on trunk (release {version}, no commit for {hours} hours) failed the check "
        '"{symptom}". Tell which file, function and line of the current sources is defective and supply the smallest '
        "unified diff that leaves all documented behaviour intact; report it if the current sources are sound.",
        '{about}. The check "{symptom}" failed in cron run {number} (trunk, release {version}, no commit for {hours} '
        "hours). Wanted: defective file, function, line in the current sources and the smallest unified diff "
        "compatible with the documentation, or the statement that the sources are sound.",
    ),
    unfolded=(
        "{function}: collapse temporary",
        "{function}: return directly",
        "cleanup({function}): fewer temporaries",
    ),
    renamed=("{function}: readable identifiers", "cleanup({function}): identifiers", "{function}: no abbreviations"),
    documented=("docs: describe {function}", "docs({function}): contract", "{function}: docstring"),
    annotated=("typing: {function}", "{function}: return annotation", "typing({function}): result"),
    tested=("tests: {words}", "cover: {words}"),
    released=("release: {version}", "chore: version {version}"),
    bodies=(
        "Pure cleanup.",
        "Reviewed-by: the usual suspects",
        "Mechanical, see the style guide.",
        "Split out of a larger branch.",
        "Suggested in the last audit.",
        "Follow-up to the workshop.",
        "Refs the housekeeping list.",
    ),
    ticket=(
        "# Cron run {number} failing\n\nReporter: {reporter}\nProject: {package}, release {version}\n\n## Summary\n"
        'Check "{symptom}" from {module}, the tracked one, did not succeed in cron run {number}.\n'
        "Attached: output of run {number}, commit log with patches.\n"
        "Support has one customer complaint that may or may not be connected.\n",
        "# {package} regression? ({symptom})\n\nReporter: {reporter}\nFirst noticed: cron run {number}\n"
        "Release: {version}\n\n## Summary\nThe tracked check, from {module}, did not succeed, maybe others with it.\n"
        "Run output {number} and the commit log are attached.\n",
    ),
    suspicion=(
        "the defective function is {function}, see {sha}",
        "{function} misbehaves in the current sources since {sha}",
        "commit {sha} in {function} needs editing again",
        "my candidate for the defect: {function} ({sha})",
    ),
    doubt=(
        "are the current sources sound? the tested revision may be outdated",
        "no part of the current sources needs editing if the run predates the cure",
        "possibly nothing is defective in the current sources today",
    ),
    advice=(
        "suggestion for that spot: `{code}`, passes for me",
        "`{code}` makes the check succeed locally",
        "why not write `{code}` and be done",
    ),
    began=(
        "{sha} is the edit that introduced the defect, no?",
        "things went wrong permanently with {sha}",
        "{sha} did more than it announced",
    ),
    small_talk=(
        "reminder: expense reports until Wednesday",
        "the mirror is slow today",
        "new dashboards are live",
        "office is closed on Monday",
        "certificate rotation went fine",
        "who owns the staging bucket?",
    ),
    phases=(
        "Stage one, outcomes up to cron run {number}: determine where the permanent failure starts, and note it.",
        "Stage two, current sources of {package} only: determine the defect, should there be one.",
        "Stage three, revisions only: starting from what stage one noted, determine the edit required today.",
    ),
)


def voice(split: Split) -> Voice:
    return _TEST if split is Split.TEST else _TRAIN

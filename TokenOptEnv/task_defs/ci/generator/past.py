"""The states of a project, found from its last one backwards.

The last state is the package as its maintainers want it, spoiled where the plot says so; each step back takes one
commit away. So the last state is always good code, and every diff is real.
"""

from __future__ import annotations

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.roles import Role
from TokenOptEnv.task_defs.ci.generator.setting import Setting
from TokenOptEnv.task_defs.ci.generator.takebacks import draw_module, draw_subject, draw_test_module, find_spot
from TokenOptEnv.task_defs.ci.generator.trees import LOCK, NOTES, last_tree, lock_text, pipeline_at
from TokenOptEnv.task_defs.ci.generator.undo import LOGIC, WORDS

_KINDS = ("docstring", "docstring", "annotations", "annotations", "imports", "test", "test", "note", *LOGIC)
_SEVERAL_SHARE = 0.2
_TRIES = 40


def states_of(setting: Setting) -> tuple[list[dict[str, str]], list[str], tuple[str, str]]:
    """The tree before the first commit and after each, the subject of each, and what the rewrite is about."""
    files = last_tree(setting)
    states = [files]
    subjects: list[str] = []
    withdrawn: tuple[str, str, str] | None = None
    rewritten = ("", "")
    for place in range(setting.size, 0, -1):
        role = next((role for role, at in setting.places.items() if at == place), None)
        draw = setting.stream("commit", place)
        if place == setting.withdrawal:
            path, spoiled, what = _withdrawn_rewrite(setting, files, draw)
            withdrawn = (path, files[path], what)
            files = {**files, path: spoiled}
            subject = ""
        elif role is Role.WITHDRAWN:
            if withdrawn is None:
                raise ScenarioInvalid("a commit was withdrawn before it was made")
            path, text, what = withdrawn
            files = {**files, path: text}
            subject = draw_subject(setting, draw, "slip", path, what)
            withdrawn = None
        elif role is Role.REWRITE:
            path, text, what, kind = _before_rewrite(setting, files, draw)
            files, rewritten = {**files, path: text}, (path, what)
            subject = draw_subject(setting, draw, kind, path, what)
        elif role is not None:
            files, subject = _before_suspect(setting, files, role, draw)
        else:
            busy = withdrawn[0] if withdrawn else ""
            files, subject = _before_innocent(setting, files, draw, busy)
        states.append(files)
        subjects.append(subject)
    subjects.reverse()
    made = subjects[setting.places[Role.WITHDRAWN] - 1]
    subjects[setting.withdrawal - 1] = f'Revert "{made}"'
    return states[::-1], subjects, rewritten


def _before_suspect(setting: Setting, files: dict[str, str], role: Role, draw: Stream) -> tuple[dict[str, str], str]:
    place = setting.places[role]
    pipeline = {setting.service.pipeline_path: setting.service.pipeline(pipeline_at(setting, place - 1))}
    match role:
        case Role.SAMPLE:
            before = {path: text for path, text in files.items() if path != setting.wobble.path}
            return {**before, **pipeline}, draw_subject(setting, draw, "sample", setting.wobble.path, "")
        case Role.BUMP:
            old, new = setting.versions
            subject = draw_subject(setting, draw, "bump", LOCK, f"{setting.library.name} {old} -> {new}")
            return {**files, LOCK: lock_text(setting, old)}, subject
        case Role.PIPELINE:
            path = setting.service.pipeline_path
            (job,) = [job.name for job in pipeline_at(setting, place).gating if job.flag]
            subject = draw_subject(setting, draw, "pipeline", path, job)
            return {**files, **pipeline}, subject
        case _:
            raise ScenarioInvalid(f"{role.value} is not undone here")


def _before_rewrite(setting: Setting, files: dict[str, str], draw: Stream) -> tuple[str, str, str, str]:
    """The rewritten file as it was: path, text, function and kind of change."""
    slip = setting.known.slip
    if setting.plot is Plot.REGRESSION:
        if files[slip.path].count(slip.new) != 1:
            raise ScenarioInvalid("a later commit touched the guilty line")
        return slip.path, files[slip.path].replace(slip.new, slip.old), slip.function, "slip"
    path = slip.path if setting.plot is not Plot.MENDED else draw_module(setting.project, files, draw, slip.path)
    kind, spot = find_spot(files, path, draw, tuple(LOGIC))
    return path, spot.before, spot.what, kind


def _withdrawn_rewrite(setting: Setting, files: dict[str, str], draw: Stream) -> tuple[str, str, str]:
    """The file as the withdrawn commit left it: spoiled in the plot, merely put differently otherwise."""
    slip = setting.known.slip
    if setting.plot is Plot.MENDED:
        if files[slip.path].count(slip.old) != 1:
            raise ScenarioInvalid("a later commit touched the guilty line")
        return slip.path, files[slip.path].replace(slip.old, slip.new), slip.function
    path = draw_module(setting.project, files, draw, slip.path)
    _, spot = find_spot(files, path, draw, tuple(LOGIC))
    return path, spot.before, spot.what


def _before_innocent(setting: Setting, files: dict[str, str], draw: Stream, busy: str) -> tuple[dict[str, str], str]:
    """One more step back; `busy` is a file that a withdrawn commit holds."""
    for _ in range(_TRIES):
        kind = draw.choice(_KINDS)
        if kind == "note":
            head, _, _ = files[NOTES].rstrip("\n").rpartition("\n- ")
            if "\n- " not in head:
                continue
            return {**files, NOTES: f"{head}\n"}, draw_subject(setting, draw, "note", NOTES, "")
        path = draw_test_module(setting, files, draw) if kind == "test" else draw_module(setting.project, files, draw)
        if path == busy:
            continue
        try:
            kind, spot = find_spot(files, path, draw, (kind,), setting.slip_test)
        except ScenarioInvalid:
            continue
        if not _keeps_slip(setting, path, files[path], spot.before):
            continue
        text, count = spot.before, 1
        if kind in LOGIC and draw.chance(_SEVERAL_SHARE):
            text, count = _more_spots(setting, path, text, draw)
        what = spot.what if kind != "test" else spot.what.removeprefix("test_").replace("_", " ")
        return {**files, path: text}, draw_subject(setting, draw, kind if count == 1 else "several", path, what)
    raise ScenarioInvalid("nothing is left to take back; fewer commits, or a larger package")


def _more_spots(setting: Setting, path: str, text: str, draw: Stream) -> tuple[str, int]:
    """A loud commit: several small things in one file."""
    count = 1
    for _ in range(draw.integer(2, 4)):
        try:
            _, spot = find_spot({path: text}, path, draw, (*LOGIC, *WORDS))
        except ScenarioInvalid:
            continue
        if _keeps_slip(setting, path, text, spot.before):
            text, count = spot.before, count + 1
    return text, count


def _keeps_slip(setting: Setting, path: str, after: str, before: str) -> bool:
    """The lines of the slip stay as they are: they belong to the guilty commit alone."""
    slip = setting.known.slip
    return path != slip.path or all(
        after.count(f"\n{text}") == before.count(f"\n{text}") for text in (slip.old, slip.new)
    )

"""Files of a tree that are not the package's own: tests that every project has, pins, pipeline, changelog."""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.task_defs.ci.generator import planted
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.roles import Role
from TokenOptEnv.task_defs.ci.generator.services import Pipeline, TestJob
from TokenOptEnv.task_defs.ci.generator.setting import Setting
from TokenOptEnv.task_defs.ci.generator.undo import read
from TokenOptEnv.task_defs.ci.generator.undo.tests import without_tests

LOCK = "requirements/test.lock"
NOTES = "CHANGELOG.md"
VERBOSE, QUIET = "-v", "-ra"
_SHARDS = {Difficulty.EASY: 1, Difficulty.MEDIUM: 2, Difficulty.HARD: 3, Difficulty.MARATHON: 3}
_FLAGS = ("--maxfail=25", "--maxfail=40", "--maxfail=60")
_HELD_OUT_FLAGS = ("--strict-markers", "--cache-clear", "--color=no")
_UNKNOWN_FLAGS = ("--numprocesses=4", "--timeout=300", "--reruns=2")


def last_tree(setting: Setting) -> dict[str, str]:
    chosen, held_out = setting.project, setting.held_out
    dropped = [test_id for test_id in setting.known.failing if test_id != setting.slip_test]
    files = dict(chosen.files)
    for path in dict.fromkeys(test_id.partition("::")[0] for test_id in dropped):
        names = [test_id.partition("::")[2].partition("[")[0] for test_id in dropped if test_id.startswith(path)]
        files[path] = without_tests(read(path, files[path]), names)
    wobbles = setting.plot is Plot.WOBBLE
    files[planted.handbook_path(held_out)] = planted.handbook(
        setting.library, chosen.name, chosen.module, chosen.names, held_out
    )
    files[planted.preview_path(held_out)] = planted.preview(chosen.name, held_out)
    files[setting.wobble.path] = setting.wobble.text(chosen.module, chosen.names, wobbles)
    files[LOCK] = lock_text(setting, setting.versions[1])
    files[setting.service.pipeline_path] = setting.service.pipeline(pipeline_at(setting, setting.size))
    notes = setting.stream("notes").shuffled(setting.voice.notes)
    files[NOTES] = "# Changes\n\n## Next\n\n" + "".join(f"- {note}\n" for note in notes)
    if setting.plot is Plot.REGRESSION:
        slip = setting.known.slip
        files[slip.path] = files[slip.path].replace(slip.old, slip.new)
    return dict(sorted(files.items()))


def lock_text(setting: Setting, version: str) -> str:
    pins = sorted([*setting.pins, f"{setting.library.name}=={version}"])
    return "".join(f"{pin}\n" for pin in pins)


def pipeline_at(setting: Setting, place: int) -> Pipeline:
    """As of one commit. The pipeline's own commit gives one job a flag; in the plot, a wrong one, or a wrong path."""
    draw = setting.stream("pipeline")
    held_out, service, plot = setting.held_out, setting.service, setting.plot
    shards = _SHARDS[setting.outline.difficulty]
    own = [path for path in setting.project.files if path.rpartition("/")[2].startswith("test_")]
    tests = draw.shuffled([*own, planted.handbook_path(held_out)])
    dealt = [tests[number::shards] for number in range(shards)]
    if place >= setting.places[Role.SAMPLE]:
        dealt[0] = [setting.wobble.path, *dealt[0]]
    flags = [""] * shards
    touched = draw.integer(0, shards - 1)
    folder, _, name = dealt[touched][-1].rpartition("/")
    wrong = draw.choice((f"{folder}/unit/{name}", f"{folder}/{name.removesuffix('.py')}s.py"))
    if place >= setting.places[Role.PIPELINE]:
        flags[touched] = draw.choice(_HELD_OUT_FLAGS if held_out else _FLAGS)
        if plot is Plot.OPTION:
            flags[touched] = draw.choice(_UNKNOWN_FLAGS)
        if plot is Plot.SELECTION:
            dealt[touched] = [*dealt[touched][:-1], wrong]
    quiet = setting.outline.difficulty is Difficulty.EASY or (
        setting.outline.wide_facts is not None and setting.outline.difficulty is Difficulty.MEDIUM
    )
    return Pipeline(
        gating=tuple(
            TestJob(name, tuple(paths), flag)
            for name, paths, flag in zip(service.shard_names[:shards], dealt, flags, strict=True)
        ),
        preview=TestJob(service.preview_name, (planted.preview_path(held_out),)),
        options=QUIET if quiet else VERBOSE,
        timeout_min=setting.stream("timeout").integer(8, 30),
        lock=LOCK,
    )

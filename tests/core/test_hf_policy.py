"""A checkpoint that cannot play says why, in one line, before anything large is loaded. How one plays: tests/train."""

from __future__ import annotations

from pathlib import Path

import pytest

from TokenOptEnv import policies
from TokenOptEnv.errors import BadInput
from TokenOptEnv.policies import hf


def folder(place: Path, file: str) -> Path:
    place.mkdir()
    (place / file).write_text("{}", encoding="utf-8")
    return place


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no checkpoint in .*: neither config.json nor adapter_config.json is there"):
        policies.info(f"hf:{tmp_path}")
    with pytest.raises(BadInput, match="no checkpoint in ''"):
        policies.info("hf:")


def test_a_whole_model_stands_on_no_other(tmp_path: Path) -> None:
    model = folder(tmp_path / "model", "config.json")
    with pytest.raises(BadInput, match="is a whole model and stands on no other; name it without '@'"):
        policies.info(f"hf:{model}@{model}")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter, base = folder(tmp_path / "adapter", "adapter_config.json"), folder(tmp_path / "base", "config.json")
    monkeypatch.setattr(hf, "find_spec", lambda name: None if name == "peft" else name)
    with pytest.raises(BadInput, match=r"needs peft; install it: pip install peft"):
        policies.info(f"hf:{adapter}@{base}")
    monkeypatch.setattr(hf, "find_spec", lambda name: name)
    assert policies.info(f"hf:{adapter}@{base}").name == f"hf:{adapter}@{base}"

"""Several adapters become one; what does not fit together is told in a line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from training.average import CONFIG, WEIGHTS, main


def _adapter(folder: Path, weights: dict[str, torch.Tensor]) -> Path:
    folder.mkdir()
    (folder / CONFIG).write_text('{"r": 2}', encoding="utf-8")
    save_file(weights, folder / WEIGHTS)
    return folder


def test_the_mean_of_each_weight_in_the_form_it_had(tmp_path: Path) -> None:
    first = _adapter(tmp_path / "a", {"up": torch.tensor([1.0, 2.0]).half(), "down": torch.tensor([[0.0]])})
    second = _adapter(tmp_path / "b", {"up": torch.tensor([3.0, -2.0]).half(), "down": torch.tensor([[1.0]])})
    main([str(first), str(second), "--out", str(tmp_path / "mean")])
    mean = load_file(tmp_path / "mean" / WEIGHTS)
    assert mean["up"].tolist() == [2.0, 0.0] and mean["up"].dtype is torch.float16
    assert mean["down"].tolist() == [[0.5]]
    assert (tmp_path / "mean" / CONFIG).read_text(encoding="utf-8") == '{"r": 2}'


def test_other_weights_and_missing_ones_are_one_line(tmp_path: Path) -> None:
    first = _adapter(tmp_path / "a", {"up": torch.zeros(2)})
    other = _adapter(tmp_path / "b", {"up": torch.zeros(3)})
    with pytest.raises(SystemExit, match="has other weights than"):
        main([str(first), str(other), "--out", str(tmp_path / "mean")])
    with pytest.raises(SystemExit, match="there is no adapter in"):
        main([str(first), str(tmp_path / "nowhere"), "--out", str(tmp_path / "mean")])
    assert not (tmp_path / "mean").exists()

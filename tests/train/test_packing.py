"""What is carried in parts is whole again on the other side."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.train.conftest import ROOT
from training.pack_for_gpu import cut


def test_an_archive_cut_in_parts_is_put_together_by_number(tmp_path: Path) -> None:
    whole = bytes(range(256)) * 12
    (tmp_path / "whole.tar").write_bytes(whole)
    cut(tmp_path / "whole.tar", tmp_path, 256)
    assert len(list(tmp_path.glob("part-*"))) == 12
    joined = subprocess.run(
        ["bash", "-c", "cat $(ls part-*/piece-* | sort -V)"], cwd=tmp_path, capture_output=True, check=True
    )
    assert joined.stdout == whole


def test_the_script_says_how_it_is_called(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", ROOT / "training" / "on_gpu.sh"],
        env={"PATH": "/usr/bin:/bin", "CAMRE_GPU_STORE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "on_gpu.sh grpo" in done.stdout

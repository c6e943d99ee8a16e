"""From a run to rows for supervised fine-tuning.

python examples/export_and_load.py runs/sft-data
"""

import subprocess
import sys
from pathlib import Path

from datasets import load_dataset

folder = Path(sys.argv[1])
run, out = str(folder / "run"), str(folder / "rows")
subprocess.run(["camre", "eval", "--policy", "cheapest", "--episodes", "3", "--out", run], check=True)
subprocess.run(["camre", "export", run, "--out", out, "--least-return", "-1"], check=True)

rows = load_dataset(out, split="train")
print(rows.num_rows, "rows; one says:", rows[0]["completion"])

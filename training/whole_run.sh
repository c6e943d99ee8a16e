#!/usr/bin/env bash
# The whole run, from nothing to what is said on test, in calls of less than ten minutes on one H200.
#
#   bash training/whole_run.sh data    here: cases, traces under guises, and parts to carry; ten minutes on two cores
#   bash training/whole_run.sh 1       there, once every part was kept (on_gpu.sh keep): the base model, warm start
#   bash training/whole_run.sh 1 kept  or the warm start that is in the checkout
#   bash training/whole_run.sh 2 [MINUTES]   reinforcement; a second call goes on where the first stopped
#   bash training/whole_run.sh 3       a last stage with three seeds, their mean and midway to it, checks under a guise
#   bash training/whole_run.sh 4 WHO   test, by the warm start and by WHO, as the checks of 3 decide: mean/adapter or midway/adapter
#   bash training/whole_run.sh 5 WHO   validation, and test under today's prices
#
# What each of them leaves is copied to $OUT. Machines without a network are what on_gpu.sh is about.
set -euo pipefail
cd "$(dirname "$0")/.."
START=${CAMRE_START:-artifacts/camre-v2-guised-start}
REINFORCED=(--no-grammar --guise 3 --check-guise 9 --credit branch --group-size 16 --upto hard --begin-with hard --solvable-share 0.8
  --worth expected --sce-share 0.3 --least-advantage 0.1 --refusal-cost 0.1 --temperature 4 --drawn-share 0.3 --least-share 0.001
  --checks 300)
gpu() { bash training/on_gpu.sh "$@"; }

case "${1:-}" in
  data)
    python -m training.base_model --out runs/base/smollm2-135m
    boxes=()
    for first in 0 700 1400; do
      python -m training.collect --first $first --easy 245 --medium 280 --hard 140 --marathon 35 --no-traces --out runs/boxes/train-$first
      boxes+=(--box runs/boxes/train-$first.zip)
    done
    python -m training.collect "${boxes[@]}" --most-traces 1 --slips 0.2 --guise 1 \
      --tokenizer runs/base/smollm2-135m/tokenizer.json --out runs/data/train
    for split in validation test; do
      python -m training.collect --split $split --easy 1000 --medium 1000 --hard 1000 --marathon 1000 --no-traces --out runs/data/$split
    done
    python -m training.pack_for_gpu --data runs/data/train --box runs/data/validation.zip --box runs/data/test.zip --part-mib 44 ;;
  1)
    gpu prepare
    if [ "${2:-}" = kept ]; then
      gpu start "$START"
    else
      gpu sft 4.2 --adapter "$START" --epochs 1 --batch 32 --rate 5e-4 --batch-tokens 98304 --checks 300 --check-guise 9
      gpu give sft/adapter
    fi ;;
  2)
    gpu grpo "${2:-8.6}" "${REINFORCED[@]}" --seed 41 --iterations 48 --groups 64 --updates 3 --rate 1e-4 --end-rate 3e-5 --check-every 10 \
      --batch-tokens 98304
    gpu give grpo/adapter ;;
  3)
    gpu seeds 4.2 "${REINFORCED[@]}" --iterations 10 --groups 40 --updates 3 --rate 5e-5 --end-rate 1e-5 --check-every 10
    gpu watch 300
    gpu average
    gpu checks validation "sft/adapter mean/adapter midway/adapter" --guise 9 --episodes 600
    gpu give mean/adapter midway/adapter ;;
  4)
    gpu checks test "sft/adapter ${2:?name who plays beside the warm start: mean/adapter or midway/adapter}"
    gpu give ;;
  5)
    gpu checks validation "sft/adapter ${2:?name who plays beside the warm start: mean/adapter or midway/adapter}"
    gpu check test "$2" --catalog current --episodes 600
    gpu give ;;
  *)
    sed -n '2,11p' "$0"
    exit 2 ;;
esac

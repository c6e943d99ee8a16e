#!/usr/bin/env bash
# Train on a machine without a network, from the parts that training/pack_for_gpu.py made.
#
#   bash training/on_gpu.sh keep                   put the parts carried by this call aside; once for every call that carries some
#   bash training/on_gpu.sh prepare                put the parts together; the base model is made of them
#   bash training/on_gpu.sh sft   MINUTES [OPTION..]   warm start
#   bash training/on_gpu.sh start ADAPTER          or take this one, from the checkout, as sft/adapter
#   bash training/on_gpu.sh grpo  MINUTES [OPTION..]   reinforce; a second call goes on where the first stopped
#   bash training/on_gpu.sh seeds MINUTES [OPTION..]   go on from grpo/adapter with seeds 1 to 3, side by side and in the background
#   bash training/on_gpu.sh watch SECONDS          wait for them so long, and tell how far they are
#   bash training/on_gpu.sh average                their mean, as mean/adapter, and midway from sft/adapter to it, as midway/adapter
#   bash training/on_gpu.sh check SPLIT ADAPTER [OPTION..]   play validation or test with sft/adapter, grpo/best, ..
#   bash training/on_gpu.sh checks SPLIT "ADAPTER.." [OPTION..]   several at once
#   bash training/on_gpu.sh give [ADAPTER..]       copy results to $OUT: these adapters, and all small files in one archive
#
# State lives in $CAMRE_GPU_STORE (default: ~/camre-gpu), outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
STORE=${CAMRE_GPU_STORE:-$HOME/camre-gpu}
PYTHON=${PYTHON:-python3}
PROCESSES=${CAMRE_PROCESSES:-14}
export PYTHONPATH="$STORE/site:$PWD" PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1
export PYTORCH_ALLOC_CONF=expandable_segments:True
COMMON=(--base "$STORE/base" --data "$STORE/data/train" --processes "$PROCESSES" --rank 24 --batch-tokens 65536)
mkdir -p "$STORE"
[ -f "$STORE/data/validation.zip" ] && COMMON+=(--validation "$STORE/data/validation.zip")

task=${1:-}
[ $# -gt 0 ] && shift
case "$task" in
  keep)
    for part in runs/gpu/*/; do
      mkdir -p "$STORE/$(basename "$part")"
      cp "$part"* "$STORE/$(basename "$part")/"
    done
    du -sh "$STORE"/* ;;
  prepare)
    cat $(ls "$STORE"/part-*/piece-* | sort -V) | tar -x -C "$STORE"
    "$PYTHON" -m pip install --quiet --no-index --no-deps --target "$STORE/site" "$STORE"/wheels/*.whl
    "$PYTHON" -m training.base_model --gguf "$STORE/model.gguf" --out "$STORE/base"
    "$PYTHON" -c "import torch, transformers, peft; print(torch.__version__, transformers.__version__, peft.__version__, torch.cuda.is_available())" ;;
  sft)
    minutes=$1; shift
    "$PYTHON" -m training.sft "${COMMON[@]}" --out "$STORE/sft" --minutes "$minutes" "$@" 2>&1 | tee -a "$STORE/sft.log" ;;
  start)
    mkdir -p "$STORE/sft/adapter"
    cp "$1"/* "$STORE/sft/adapter/" ;;
  grpo)
    minutes=$1; shift
    "$PYTHON" -m training.grpo "${COMMON[@]}" --adapter "$STORE/sft/adapter" --out "$STORE/grpo" --checkpoint-every 1 \
      --iterations 1000 --minutes "$minutes" "$@" 2>&1 | tee -a "$STORE/grpo.log" ;;
  seeds)
    minutes=$1; shift
    export CUDA_MPS_PIPE_DIRECTORY="$STORE/mps" CUDA_MPS_LOG_DIRECTORY="$STORE/mps"  # one GPU, at once and not in turns
    mkdir -p "$STORE/mps"
    nvidia-cuda-mps-control -d || echo "no multi-process service: the three take turns"
    for seed in 1 2 3; do
      setsid nohup "$PYTHON" -m training.grpo "${COMMON[@]}" --processes $((PROCESSES / 3 + 1)) --batch-tokens 20480 --cached-tokens 800000 \
        --adapter "$STORE/grpo/adapter" --out "$STORE/seed-$seed" --seed $seed --checkpoint-every 5 \
        --minutes "$minutes" "$@" > "$STORE/seed-$seed.log" 2>&1 < /dev/null &
    done ;;
  watch)
    ends=$((SECONDS + $1))
    while [ $SECONDS -lt $ends ] && pgrep -f training.grpo > /dev/null; do sleep 2; done
    tail -n 3 "$STORE"/seed-*.log ;;
  average)
    "$PYTHON" -m training.average "$STORE"/seed-?/adapter --out "$STORE/mean/adapter"
    "$PYTHON" -m training.average "$STORE"/sft/adapter "$STORE"/mean/adapter --out "$STORE/midway/adapter" ;;
  check)
    split=$1 adapter=$2; shift 2
    name=$split-${adapter//\//-}
    for option in "${@#--}"; do name+=-$option; done  # with other options it is another play
    "$PYTHON" -m training.evaluate --box "$STORE/data/$split.zip" --base "$STORE/base" --adapter "$STORE/$adapter" \
      --processes "$PROCESSES" --actions "$STORE/actions-$name.jsonl" "$@" 2>&1 | tee -a "$STORE/check.log" ;;
  checks)
    split=$1 adapters=$2; shift 2
    for adapter in $adapters; do
      CAMRE_PROCESSES=$((PROCESSES / 3 + 1)) bash training/on_gpu.sh check "$split" "$adapter" "$@" --cached-tokens 800000 &
    done
    wait ;;
  give)
    for adapter in "$@"; do
      cp "$STORE/$adapter/adapter_model.safetensors" "$OUT/${adapter//\//-}.safetensors"
    done
    (cd "$STORE" && tar -czf "$OUT/small.tar.gz" $(ls -d ./*.log ./*.jsonl ./*/metrics.jsonl ./*/timings.jsonl ./*/*/adapter_config.json 2>/dev/null))
    ls -la "$OUT" ;;
  *)
    sed -n '2,16p' "$0"
    exit 2 ;;
esac

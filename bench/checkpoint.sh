#!/bin/bash
# ./dev bench checkpoint: what checkpoints cost airfoil, and how fast a run comes to where it was. Given the build directory;
# CHECKPOINT_CELLS chooses the mesh, CHECKPOINT_ITERS the steps, CHECKPOINT_EVERY the interval, CHECKPOINT_TIMES how often.
set -u
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cells=${CHECKPOINT_CELLS:-720000} iters=${CHECKPOINT_ITERS:-3000} every=${CHECKPOINT_EVERY:-60s}
airfoil=$build/samples/airfoil
export OP2_LOG=io XDG_CACHE_HOME=$folder

seconds() { # COMMAND...: of the whole process
  local start end
  start=$(date +%s.%N)
  "$@" >"$folder/out" 2>"$folder/log" || cat "$folder/out" "$folder/log" >&2
  end=$(date +%s.%N)
  echo "$end - $start" | bc -l
}

echo "airfoil, $cells cells, $iters steps; a checkpoint each $every"
seconds "$airfoil" --cells "$cells" --iters 100 >/dev/null # compiles and tunes
for ((i = 0; i < ${CHECKPOINT_TIMES:-3}; i++)); do
  printf 'without  %8.2f s\n' "$(seconds "$airfoil" --cells "$cells" --iters "$iters")"
  printf 'with     %8.2f s, %d checkpoints\n' \
    "$(seconds "$airfoil" --cells "$cells" --iters "$iters" "OP2_CHECKPOINT=$folder/run.ckpt,every=$every")" \
    "$(grep -c ' at loop ' "$folder/log")"
done
echo "1,000 steps that are not run"
export OP2_TOOLS=$build/tests/checkpoint/libcheckpoint_killer.so
(
  CHECKPOINT_LOOPS=9100 "$airfoil" --cells 1500 --iters 1200 "OP2_CHECKPOINT=$folder/run.ckpt,every=8990,beside=off"
  true
) >/dev/null 2>&1
unset OP2_TOOLS
"$airfoil" --cells 1500 --iters 1200 "OP2_CHECKPOINT=$folder/run.ckpt,every=1h" 2>&1 >/dev/null | grep 'goes on'

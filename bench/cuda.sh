#!/bin/bash
# ./dev bench cuda [on a machine with a GPU]: the library against hand-written CUDA (bench/cuda/main.c). Given the build directory, and
# options of the program. Figures go to bench/results/DATE-GPU, or to the folder BENCH_RESULTS.
set -u
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$build/bench/cuda_one" --source "$here/cuda/twins.cu" --json "$work/cuda.json" --cache "$work/kernels.db" "$@" >"$work/cuda.txt"
status=$?
cat "$work/cuda.txt"
[ -s "$work/cuda.json" ] || exit 1
gpu=$(sed -n 's/^  "gpu": "\([^"]*\)".*/\1/p' "$work/cuda.json" | tr 'A-Z ' 'a-z-')
results=${BENCH_RESULTS:-$here/results/$(date -u +%F)-$gpu}
mkdir -p "$results" && cp "$work/cuda.txt" "$work/cuda.json" "$results" || exit 1
echo "the figures are in $results"
exit $status

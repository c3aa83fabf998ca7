#!/bin/bash
# ./dev bench registers: registers, spills and seconds that NVIDIA's compiler (NVRTC, no GPU) needs for the loops of airfoil, of the
# derivatives of samples/adjoint, and for rows of many values, in every form that the
# tuner may try. Given the build directory; --quick behind it, for a test: airfoil only. BENCH_RESULTS names a folder for the table.
set -u
build=$(cd "$1" && pwd) || exit 1
programs=("airfoil --cells 600 --iters 1" "adjoint --n 6") more=near
[ "${2:-}" != --quick ] || { programs=("airfoil --cells 300 --iters 1") && more=''; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OP2_CUDA_DRIVER=$build/tests/cuda/libstandin_cuda.so OP2_NVRTC=$build/tests/cuda/libstandin_nvrtc.so
export STANDIN_CACHE=${STANDIN_CACHE:-$build/standin-cache} OP2_BACKEND=cuda
{
  echo "made by ./dev bench registers; nothing was run on a GPU"
  for program in "${programs[@]}"; do
    echo "== $program"
    # shellcheck disable=SC2086 # words
    "$build/tests/cuda/test_nvrtc" --forms "$work/dump" "$build/samples/"$program | sed "s|^\\(NVRTC [0-9.]*\\),.*|\\1|" | LC_ALL=C sort
  done
  [ -z "$more" ] || echo "== rows of 15 to 41 values (tests/cuda/test_near.c)"
  [ -z "$more" ] || "$build/tests/cuda/test_nvrtc" --brief "$work/dump" "$build/tests/cuda/test_cuda_near" | sed "s|^\\(NVRTC [0-9.]*\\),.*|\\1|" | LC_ALL=C sort
} | tee "$work/table"
[ -z "${BENCH_RESULTS:-}" ] || { mkdir -p "$BENCH_RESULTS" && cp "$work/table" "$BENCH_RESULTS/registers.txt"; } || exit 1
! grep -q '^skipped' "$work/table" || exit 77
grep -q ' registers ' "$work/table"

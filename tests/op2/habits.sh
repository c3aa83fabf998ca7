#!/bin/bash
# habits.sh ROOT BUILD [MPI-RUN-SCRIPT [STANDIN-DRIVER STANDIN-NVRTC]]: what public programs of OP2 do to nodes that edges share has
# the answers of plain loops on every backend, and on two ranks where each edge changes one row. Each call site is warned of
# once, however often it is called and whatever changes the numbers; none where all write one constant, or the program says that it knows.
set -u
root=$1 build=$2 mpi=${3:-} driver=${4:-} nvrtc=${5:-}
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_CACHE=$work/kernels.db OP2_TUNE=off OP2_THREADS=3 OP2_LOG=warn
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
cp "$root/tests/op2/habits.cpp" "$work/"
(cd "$work" && g++ -O1 -g -w -std=c++17 -I"$root/include" -I"$root/include/op2" habits.cpp -o program -L"$build" -lop2jit) || exit 1

is_right() { # NAME
  grep -q "alone 0 two 0 sides 0 seen 0 most 0 sum 0" "$work/out" || fail "$1: $(cat "$work/out" "$work/log")"
}
warned() { # NAME LOOP COUNT: so many warnings of elements that meet
  local found
  found=$(grep -c "warning: loop $2, .* both reach " "$work/log")
  [ "$found" -eq "$3" ] || fail "$1: loop $2 has $found warnings of elements that meet, not $3: $(cat "$work/log")"
}
all_warned() { # NAME LARGER: the last as many as there may be
  for loop in wall side share; do warned "$1" $loop 1; done
  warned "$1" larger "$2"
  for loop in clear wall_alone share_known; do warned "$1" $loop 0; done
  grep "both reach" "$work/log" | grep -v "elements 0 and 1 of set \"edges\" both reach element 0 of set \"nodes\" (map \"ends\")" &&
    fail "$1: these are not the user's numbers"
}

for backend in native seq openmp; do
  (cd "$work" && OP2_BACKEND=$backend ./program >out 2>log) || fail "$backend failed"
  is_right "$backend"
  [ "$backend" = native ] || all_warned "$backend" 1
done
for variant in scalar strip8+straight colours/32 owners/strip4 tasks/64 whole/strip16+stream soa; do
  (cd "$work" && OP2_BACKEND=openmp OP2_VARIANT=$variant ./program >out 2>log) || fail "openmp, $variant, failed: $(cat "$work/log")"
  is_right "openmp, $variant"
done
(cd "$work" && OP2_BACKEND=openmp OP2_LAZY=on OP2_TILES=500 ./program >out 2>log) || fail "in tiles: failed"
is_right "in tiles"
if [ -n "$driver" ]; then
  for variant in staged/32 atomics/64/soa; do
    (cd "$work" && OP2_BACKEND=cuda OP2_CUDA_DRIVER=$driver OP2_NVRTC=$nvrtc STANDIN_CACHE=$work/standin STANDIN_MODE=checked OP2_VARIANT=$variant \
      ./program >out 2>log) || fail "cuda, $variant, failed"
    is_right "cuda, $variant"
    all_warned "cuda, $variant" 1
  done
fi
if [ -n "$mpi" ] && command -v mpirun.openmpi >/dev/null; then
  for backend in native seq; do
    (cd "$work" && OP2_PLUGINS=$build OP2_BACKEND=$backend OP2_THREADS=1 "$mpi" openmpi 2 ./program >out 2>log) || fail "two ranks, $backend: failed: $(cat "$work/log")"
    is_right "two ranks, $backend"
    grep -q "settled 0 count 8400" "$work/out" || fail "two ranks, $backend: $(cat "$work/out" "$work/log")"
  done
fi
[ "$failures" -eq 0 ] && echo "answers are those of plain loops, and each call site is warned of once"
exit "$failures"

#!/bin/bash
# waits.sh ROOT BUILD: loops of a program of OP2 wait where it has called op_loops_wait, and nowhere else; with the same answers.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_CACHE=$work/kernels.db OP2_TUNE=off OP2_THREADS=2 OP2_L3=256K
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
cp "$root/tests/op2/waits.cpp" "$work/"
(cd "$work" && g++ -O1 -g -w -std=c++17 -I"$root/include" -I"$root/include/op2" waits.cpp -o program -L"$build" -lop2jit) || exit 1

# run MODE SETTINGS...: the answer, and whether loops waited and chains ran in tiles, in $answer and $how
run() {
  local mode=$1
  shift
  (cd "$work" && env "$@" ./program "$mode" >out 2>log) || fail "$mode $*: failed: $(cat "$work/out" "$work/log")"
  answer=$(sed -n 's/^sum //p' "$work/out") how=$(sed -n 's/^waited //p' "$work/out")
}
expect() { # MODE HOW SETTINGS...: the same answer as without waiting
  local mode=$1 expected=$2 alone
  shift 2
  run "$mode" "$@" OP2_LAZY=off
  alone=$answer
  [ "$how" = "0 tiled 0" ] || fail "$mode $* OP2_LAZY=off: waited $how"
  run "$mode" "$@"
  [ "$answer" = "$alone" ] || fail "$mode $*: $answer, not $alone"
  [ "$how" = "$expected" ] || fail "$mode $*: waited $how, not $expected"
}

for backend in seq openmp; do
  expect plain "0 tiled 0" OP2_BACKEND=$backend
  expect promise "1 tiled 1" OP2_BACKEND=$backend
  expect raw "1 tiled 1" OP2_BACKEND=$backend
  expect handler "0 tiled 0" OP2_BACKEND=$backend
  expect function "1 tiled 1" OP2_BACKEND=$backend
  for lazy in auto on check; do
    expect refused "1 tiled 1" OP2_BACKEND=$backend OP2_LAZY=$lazy
  done
  expect plain "0 tiled 0" OP2_BACKEND=$backend OP2_LAZY=on
  expect promise "1 tiled 1" OP2_BACKEND=$backend OP2_LAZY=on
  expect promise "1 tiled 1" OP2_BACKEND=$backend OP2_LAZY=check
done
# Functions of the program may look at anything.
expect promise "0 tiled 0" OP2_BACKEND=openmp OP2_JIT=off
expect promise "0 tiled 0" OP2_BACKEND=native
exit $((failures > 0))

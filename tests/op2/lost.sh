#!/bin/bash
# lost.sh ROOT BUILD: kernels keep their texts whatever their constants are called, when they take a constant's address, and with files of
# -include; op2jit why-not says of the others why they have none. What is told once is told once for each call of the program.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_TUNE=off OP2_CACHE=off OP2_THREADS=2
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
cp "$root/tests/op2/lost.cpp" "$root/tests/op2/lost_own.cpp" "$work/"
echo '#define FORCED(x) ((x) / 2)' >"$work/forced.h"
cd "$work" || exit 1
build_it() { # FLAG...
  g++ -O1 -w -std=c++17 -include forced.h -I"$root/include" -I"$root/include/op2" "$@" lost.cpp lost_own.cpp -o program -L"$build" -lop2jit || exit 1
}
why_not() { # LOOP WORDS
  grep -q "^$1: .*$2" why || fail "why-not does not say of $1 '$2': $(grep "^$1" why)"
}
build_it -g1
export OP2_CXXFLAGS='-include forced.h'
expected=$(OP2_BACKEND=native ./program)
[ -n "$expected" ] || exit 1
for backend in seq openmp; do
  got=$(OP2_BACKEND=$backend OP2_LOG=info,jit ./program 2>log)
  [ "$got" = "$expected" ] || fail "$backend: $got instead of $expected: $(cat log)"
  for loop in names points forced_in; do
    grep -q "loop $loop runs as" log && fail "$backend: loop $loop has no text: $(grep "loop $loop" log)"
  done
  grep -q "warning: loop names\|warning: loop points" log && fail "$backend: $(grep 'warning: loop' log)"
done
[ "$(OP2_BACKEND=openmp OP2_SHADOW=native ./program 2>log)" = "$expected" ] || fail "compared with the functions: $(cat log)"
"$build/runtime/cli/op2jit" why-not ./program >why 2>log || fail "why-not fails: $(cat log)"
why_not writes "read-only variable is not assignable"
why_not changes "it changes the variable 'changed' (.*lost.cpp:"
why_not owns "op_decl_const declared several of this name"
why_not owns_too "op_decl_const declared several of this name"
[ "$(grep -c "^[a-z_]*: " why)" -eq 4 ] || fail "why-not lists others: $(cat why)"
standin=$build/tests/cuda/libstandin
if [ -e "${standin}_cuda.so" ] && [ -e "${standin}_nvrtc.so" ]; then
  of_texts=$(OP2_BACKEND=native ./program --texts)
  got=$(OP2_BACKEND=cuda OP2_CUDA_DRIVER=${standin}_cuda.so OP2_NVRTC=${standin}_nvrtc.so STANDIN_CACHE=$work/standin ./program --texts 2>log)
  [ "$got" = "$of_texts" ] || fail "on the stand-in of a GPU: $got instead of $of_texts: $(cat log)"
else
  echo "left out: there is no stand-in of a GPU"
fi

# Without all flags the reason is that of the compiler, and where the flags came from is said.
unset OP2_CXXFLAGS
OP2_LOG=info,jit ./program >out 2>log
[ "$(cat out)" = "$expected" ] || fail "without -include: $(cat out log)"
grep -q "warning: the loops of lost.cpp run as .*does not parse: .*FORCED.*; flags from the debug information" log || fail "without -include: $(cat log)"

# Three records at each of two calls; plans that were asked for are no warnings.
OP2_CXXFLAGS='-include forced.h' OP2_BACKEND=openmp OP2_VARIANT=colours ./program --once >out 2>log || fail "--once: $(cat log)"
[ "$(grep -c 'warning: loop partly: ' log)" -eq 2 ] || fail "two calls have not two warnings: $(cat log)"
grep -q 'warning: loop partly: .*blocks\|warning: loop partly: .*chunks\|warning:.*plan' log && fail "a plan is a warning: $(cat log)"
grep -q 'op2jit: plan: loop partly: ' log || fail "the plans are not told: $(cat log)"
[ "$failures" -eq 0 ] && echo "no text is lost without a reason"
exit "$failures"

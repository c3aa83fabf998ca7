#!/bin/bash
# safe.sh ROOT BUILD: the prover follows texts of OP2 programs through methods, lambdas and references. What does not keep its word is one
# warning with the program's own file and line, and runs by the safe reading, with the answers of the functions themselves; it is
# an error under OP2_CHECK=on. The next start maps no compiler, parses nothing and warns again.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_CACHE=$work/kernels.db OP2_TUNE=off OP2_THREADS=3 OP2_LOG=warn
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
run() { (cd "$work" && env "$@" ./program 2>"$work/log"); }
cp "$root/tests/op2/safe.cpp" "$root/tests/op2/check.h" "$work/"
(cd "$work" && g++ -O1 -g1 -w -std=c++17 -I"$root/include" -I"$root/include/op2" safe.cpp -o program -L"$build" -lop2jit) || exit 1
line_of() { grep -n "$1" "$work/safe.cpp" | head -n 1 | cut -d : -f 1; }

warned() { # LOOP LINE WORDS: one warning, which names the line and has the words
  local said
  said=$(grep -A 6 "warning: loop $1: " "$work/log")
  [ "$(grep -c "warning: loop $1: " "$work/log")" -eq 1 ] || fail "loop $1 has not one warning: $(cat "$work/log")"
  grep -q "safe.cpp:$2:" <<<"$said" || fail "the warning of loop $1 does not name line $2: $said"
  grep -q "$3" <<<"$said" || fail "the warning of loop $1 does not say '$3': $said"
}
all_warned() {
  warned half "$(line_of 'static void half')" "it runs as if OP_WRITE were OP_RW"
  warned reads_inc "$(line_of 'to += to > 0')" "as if OP_INC were OP_RW, no two elements that meet at the same time"
  warned sets_inc "$(line_of 'out\[0\] = a\[0\];')" "as if OP_INC were OP_RW"
  warned writes_read "$(line_of '\*a += 1;')" "as if OP_READ were OP_RW"
  for loop in whole each only_reads; do
    grep -q "loop $loop" "$work/log" && fail "loop $loop keeps its word: $(grep "loop $loop" "$work/log")"
  done
}

expected=$(run OP2_BACKEND=native | head -n 1)
[ -n "$expected" ] || exit 1
for backend in seq openmp; do
  rm -f "$work"/kernels.db*
  for start in first second third; do
    got=$(run OP2_BACKEND=$backend)
    [ "$(head -n 1 <<<"$got")" = "$expected" ] || fail "$backend, $start start: $got instead of $expected"
    all_warned
    counted=$(tail -n 1 <<<"$got")
    [ $start = first ] || [ "$counted" = "compiles 0 hits 5 compiler not mapped" ] || fail "$backend, $start start: $counted"
  done
  [ "$(run OP2_BACKEND=$backend OP2_JIT=load | head -n 1)" = "$expected" ] || fail "$backend, OP2_JIT=load: $(cat "$work/log")"
  grep -q "loop whole" "$work/log" && fail "$backend, OP2_JIT=load: $(cat "$work/log")"
done
[ "$(run OP2_BACKEND=openmp OP2_SHADOW=native | head -n 1)" = "$expected" ] || fail "compared with the functions: $(cat "$work/log")"
run OP2_BACKEND=seq OP2_LOG=info,check OP2_CACHE=off >"$work/out"
grep -q "not proved" "$work/log" && fail "$(grep 'not proved' "$work/log")"
run OP2_BACKEND=seq OP2_CHECK=on >"$work/out" && fail "OP2_CHECK=on takes it"
grep -q "error.*half.*OP_WRITE" "$work/log" || fail "OP2_CHECK=on: $(cat "$work/log")"
[ "$failures" -eq 0 ] && echo "warnings and answers are right, and the next start is warm"
exit "$failures"

#!/bin/bash
# forms.sh ROOT BUILD: structs as rows, static methods and instances of templates have their texts and no false warning; what no text can have
# is said in words of the kernel; op2jit texts says of a source what op2jit why-not says of the program.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_TUNE=off OP2_THREADS=2 OP2_CACHE=$work/kernels.db
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
cp "$root/tests/op2/forms.cpp" "$root/tests/op2/check.h" "$work/"
cd "$work" || exit 1
g++ -O1 -g1 -w -std=c++17 -I"$root/include" -I"$root/include/op2" forms.cpp -o program -L"$build" -lop2jit || exit 1
expected=$(OP2_BACKEND=native ./program)
right=$(OP2_BACKEND=native ./program --right)
[ -n "$expected" ] && [ -n "$right" ] || exit 1
of_text="takes_struct gives_struct copies_struct nested_struct method of_type instance instance4 other alias"
run() { env OP2_LOG=info,jit "$@" 2>log; }

# Nobody compiled yet: who forbids it is told, without a word about logs.
got=$(OP2_JIT=load OP2_CACHE=$work/cold.db OP2_BACKEND=seq ./program --right 2>log)
[ "$got" = "$right" ] || fail "OP2_JIT=load without a cache: $got instead of $right"
grep -q "loop method runs as the program's compiler made it: OP2_JIT=load" log || fail "OP2_JIT=load without a cache is silent: $(cat log)"

for backend in seq openmp; do
  got=$(run OP2_BACKEND=$backend ./program)
  [ "$got" = "$expected" ] || fail "$backend: $got instead of $expected: $(cat log)"
  for loop in $of_text; do
    grep -q "loop $loop runs as" log && fail "$backend: loop $loop has no text: $(grep "loop $loop" log)"
    grep -q "warning: loop $loop" log && fail "$backend: $(grep "warning: loop $loop" log)"
  done
  grep -q "loop throws runs as .*it throws an exception (.*forms.cpp:" log || fail "$backend: throw: $(grep 'throws' log)"
  grep -q "loop takes_memory runs as .*it takes memory with new (.*forms.cpp:" log || fail "$backend: new: $(grep 'takes_memory' log)"
  grep -q "loop has_file runs as .*gives other results" log || fail "$backend: __FILE__: $(grep 'has_file' log)"
  for loop in half half_struct; do
    [ "$(grep -c "warning: loop $loop: kernel" log)" -eq 1 ] || fail "$backend: loop $loop has not one warning: $(cat log)"
  done
  grep -q "loop \([a-z_]*\): loop \1" log && fail "$backend: a loop is named twice: $(grep 'loop.*: loop' log)"
  got=$(run OP2_BACKEND=$backend OP2_SHADOW=native ./program --right) || fail "$backend, compared, fails"
  [ "$got" = "$right" ] || fail "$backend, compared: $got: $(cat log)"
done
got=$(run OP2_BACKEND=seq OP2_CHECK=on ./program --right) || fail "OP2_CHECK=on: $(cat log)"
[ "$got" = "$right" ] || fail "OP2_CHECK=on: $got instead of $right"
run OP2_BACKEND=seq OP2_CHECK=on ./program >out && fail "OP2_CHECK=on takes half a struct"
standin=$build/tests/cuda/libstandin
if [ -e "${standin}_cuda.so" ] && [ -e "${standin}_nvrtc.so" ]; then
  got=$(run OP2_BACKEND=cuda OP2_CUDA_DRIVER="${standin}_cuda.so" OP2_NVRTC="${standin}_nvrtc.so" STANDIN_CACHE="$work/standin" ./program --right)
  [ "$got" = "$right" ] || fail "on the stand-in of a GPU: $got instead of $right: $(cat log)"
  # Elements that meet in what they read as well run in colours there; one that meets itself is refused.
  on_gpu() { run OP2_BACKEND=cuda OP2_CUDA_DRIVER="${standin}_cuda.so" OP2_NVRTC="${standin}_nvrtc.so" STANDIN_CACHE="$work/standin" "$@"; }
  met=$(OP2_BACKEND=native ./program --meet)
  got=$(on_gpu OP2_TIMING=text ./program --meet)
  [ "$(head -n 1 <<<"$got")" = "$met" ] || fail "elements that meet on the stand-in: $got instead of $met: $(cat log)"
  grep -q "sets_inc .*colours/" log || fail "elements that meet run as $(grep sets_inc log)"
  grep -q "it runs as if OP_INC were OP_RW, no two elements that meet at the same time" log || fail "elements that meet: $(cat log)"
  on_gpu ./program --meet-itself >out && fail "an element that meets itself runs on the stand-in"
  grep -q "OP_INC, and the kernel" log || fail "an element that meets itself: $(cat log)"
else
  echo "left out: there is no stand-in of a GPU"
fi

# The command says the same.
op2jit=$build/runtime/cli/op2jit
"$op2jit" texts --headers "$root/include/op2" forms.cpp >listed 2>&1 || fail "op2jit texts: $(cat listed)"
"$op2jit" why-not ./program >why 2>/dev/null || fail "op2jit why-not: $(cat why)"
for loop in throws takes_memory names_variable; do
  reason=$(sed -n "s/^$loop: //p" why)
  [ -n "$reason" ] || fail "op2jit why-not does not list $loop: $(cat why)"
  grep -qF " $loop: $reason" listed || fail "op2jit texts does not say of $loop: $reason; $(grep " $loop: " listed)"
done
[ "$(grep -c ': text$' listed)" -eq 13 ] || fail "op2jit texts: $(cat listed)"
for name in takes_struct solver::method method 'instance<3>' '(inner::other<double, point>)'; do
  "$op2jit" texts --headers "$root/include/op2" --show "$name" forms.cpp >out 2>&1 || fail "--show $name fails"
  [ -s out ] || fail "--show $name: nothing"
done
"$op2jit" texts --headers "$root/include/op2" --show nowhere forms.cpp >out 2>&1 && fail "--show nowhere succeeds"
grep -q "no op_par_loop of a kernel 'nowhere'; it has takes_struct, " out || fail "--show nowhere: $(cat out)"
"$op2jit" texts --headers "$root/include/op2" --show throws forms.cpp >out 2>&1 && fail "--show throws succeeds"
grep -q "throws has no text: it throws" out || fail "--show throws: $(cat out)"
[ "$failures" -eq 0 ] && echo "kernels of all forms have their texts"
exit "$failures"

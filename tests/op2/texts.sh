#!/bin/bash
# texts.sh ROOT BUILD: kernels of a program of OP2 get their texts from its sources; with sources changed, gone, or not understood
# loops run as the program's compiler made them and say why; answers are the same in all forms.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_CACHE=$work/kernels.db OP2_TUNE=off OP2_THREADS=2
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
build_it() { # FLAG...: the program from the copy of its sources
  (cd "$work" && g++ -O1 -g1 -w -std=c++17 -I"$root/include" -I"$root/include/op2" "$@" texts.cpp -o program -L"$build" -lop2jit)
}
run() { # NAME=VALUE...: the answers; the log is in $work/log
  (cd "$work" && env OP2_LOG=info,jit "$@" ./program 2>"$work/log")
}
expect() { # WHAT ANSWERS: the same numbers as by the functions themselves
  [ "$(head -n 1 <<<"$2")" = "$(head -n 1 <<<"$expected")" ] || fail "$1: $2 instead of $expected"
}
said() { # LOOP WORDS
  grep -q "loop $1 runs as the program's compiler made it: .*$2" "$work/log" || fail "loop $1 does not say: $2"
}
copy() {
  cp "$root/tests/op2/texts.cpp" "$root/tests/op2/texts_body.h" "$root/tests/op2/check.h" "$work/"
}

copy
build_it || exit 1
expected=$(run OP2_BACKEND=native)
[ -n "$expected" ] || exit 1
none=$(run OP2_JIT=off)
expect "without texts" "$none"
grep -q 'compiled no' <<<"$none" || fail "OP2_JIT=off compiles"
found=$(run OP2_BACKEND=seq)
expect "with texts" "$found"
grep -q 'compiled yes' <<<"$found" || fail "nothing is compiled: $(cat "$work/log")"
for loop in flux step partly shared loud; do
  grep -q "loop $loop runs as" "$work/log" && fail "loop $loop has no text: $(grep "loop $loop" "$work/log")"
done
said with_global "'undeclared', which is not declared by op_decl_const"
grep -q "loop shared: its first calls run in two forms.*HALVED" "$work/log" || fail "nothing is said of HALVED"
grep -q "OP_WRITE were OP_RW" "$work/log" || fail "nothing is said of a dat that is written in part"
expect "on threads" "$(run OP2_BACKEND=openmp)"
expect "compared with the functions" "$(run OP2_SHADOW=native)"
standin=$build/tests/cuda/libstandin
if [ -e "${standin}_cuda.so" ] && [ -e "${standin}_nvrtc.so" ]; then
  of_texts=$(cd "$work" && OP2_BACKEND=native ./program --texts | head -n 1)
  on_gpu=$(cd "$work" && OP2_BACKEND=cuda OP2_CUDA_DRIVER=${standin}_cuda.so OP2_NVRTC=${standin}_nvrtc.so STANDIN_CACHE=$work/standin \
    ./program --texts 2>"$work/log" | head -n 1)
  [ "$on_gpu" = "$of_texts" ] || fail "on the stand-in of a GPU: $on_gpu instead of $of_texts: $(cat "$work/log")"
else
  echo "left out: there is no stand-in of a GPU"
fi
OP2_JIT=load expect "from the cache" "$(run OP2_JIT=load)"
"$build/runtime/cli/op2jit" why-not "$work/program" >"$work/why" 2>/dev/null || fail "why-not fails"
grep -q "^with_global: it names" "$work/why" || fail "why-not does not list with_global"

# A flag that nobody told of: the comparison finds it.
build_it -DHALVED || exit 1
expected=$(run OP2_BACKEND=native)
expect "with a flag that is not known" "$(run OP2_BACKEND=seq)"
said shared "the text found gives other results"
expect "with a flag that is known" "$(run OP2_BACKEND=seq OP2_CXXFLAGS=-DHALVED)"
grep -q "loop shared" "$work/log" && fail "with OP2_CXXFLAGS there is a doubt"

# Sources that are not the program's any more, or gone.
build_it || exit 1
expected=$(run OP2_BACKEND=native)
sleep 1.1
sed -i 's/1.5, 2.0/9.5, 9.0/' "$work/texts.cpp"
expect "with a source that changed" "$(run OP2_BACKEND=seq)"
said flux "newer than the program"
rm "$work/texts.cpp" "$work/texts_body.h"
expect "without sources" "$(run OP2_BACKEND=seq)"
said flux "is not there"

# Texts inside the program.
copy
export OP2JIT_HEADERS=$root/include/op2 OP2JIT_LIBRARY=$build OP2JIT_COMMAND=$build/runtime/cli/op2jit
(cd "$work" && sh "$build/runtime/cli/op2jit-c++" -O1 -w -std=c++17 -c texts.cpp -o texts.o) || fail "op2jit-c++ -c fails"
(cd "$work" && g++ texts.o -o program -L"$build" -lop2jit) || fail "an object with texts cannot be linked"
rm "$work/texts.cpp" "$work/texts_body.h"
expect "with its texts inside" "$(run OP2_BACKEND=seq OP2_CACHE=off)"
grep -q "loop flux runs as" "$work/log" && fail "the texts inside are not used: $(grep 'loop flux' "$work/log")"
[ "$failures" -eq 0 ] && echo "all forms agree"
exit "$failures"

#!/bin/bash
# sources.sh ROOT BUILD: a text is taken from the sources that the program was compiled from, or not at all: whatever was done to the times of
# sources and program since. Answers are always those of the functions themselves.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/inner"
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_TUNE=off OP2_BACKEND=seq
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
write() { # NUMBER: what the header adds
  cp "$root/tests/op2/reasons.cpp" "$work/"
  echo "inline double deeper(double x) { return x + $1; }" >"$work/inner/deep.h"
}
build_it() { # COMPILER FLAG...
  local compiler=$1
  shift
  (cd "$work" && "$compiler" -O1 -g1 -w -std=c++17 -I"$root/include" -I"$root/include/op2" -I. "$@" -c reasons.cpp -o reasons.o &&
    "$compiler" reasons.o -o program -L"$build" -lop2jit) || exit 1
  expected=$(cd "$work" && env OP2_BACKEND=native ./program)
}
check() { # WHAT NAME=VALUE...: the answer is right; the log is in $work/log
  local got
  got=$(cd "$work" && env OP2_CACHE=off OP2_CXXFLAGS="${flags-}" OP2_LOG=info,jit "${@:2}" timeout 30 ./program 2>"$work/log")
  [ "$got" = "$expected" ] || fail "$1: $got instead of $expected: $(cat "$work/log")"
}
has_none() { # WHAT WORDS
  grep -q "loop scaled runs as the program's compiler made it: .*$2" "$work/log" || fail "$1: loop scaled does not say '$2': $(cat "$work/log")"
}
has_text() { # WHAT: without a doubt
  grep -q "kernel scaled .*compiled in" "$work/log" || fail "$1: loop scaled has no text: $(cat "$work/log")"
  grep -q "loop scaled: its first calls run in two forms\|loop scaled runs as" "$work/log" && fail "$1: there is a doubt: $(cat "$work/log")"
}
in_doubt() { # WHAT WORDS
  grep -q "loop scaled: its first calls run in two forms.*$2" "$work/log" || fail "$1: no doubt says '$2': $(cat "$work/log")"
}

# A program whose file is younger than a source that changed since it was compiled.
flags=-I.
write 1
build_it g++
check "as compiled"
has_text "as compiled"
sleep 1.1
write 2
cp "$work/program" "$work/copy" && mv "$work/copy" "$work/program"
check "copied"
has_none "copied" "deep.h is newer than the program, which was compiled"
strip "$work/program"
check "stripped"
has_none "stripped" "no debug information of 'reasons.cpp'"
(cd "$work" && g++ reasons.o -o program -L"$build" -lop2jit) || exit 1
check "linked again"
has_none "linked again" "newer than the program"
touch -d '2020-01-01' "$work/inner/deep.h" "$work/reasons.cpp"
check "times set back"
in_doubt "times set back" "had its time set, after the program was made"
has_none "times set back" "gives other results"
write 1
touch -d '2020-01-01' "$work/inner/deep.h" "$work/reasons.cpp"
check "the same text with its time set back"
in_doubt "the same text" "had its time set"
grep -q "loop scaled runs as" "$work/log" && fail "the same text with its time set back is not used: $(cat "$work/log")"

# A program that does not say when it was compiled.
build_it g++ -DOP2JIT_NO_TIME
check "without a time"
in_doubt "without a time" "does not say when it was compiled"
write 2
touch "$work/program"
check "without a time, the source changed"
has_none "without a time, the source changed" "gives other results"
write 1
g++ -w -fsyntax-only -std=c++17 -I"$root/include" -I"$root/include/op2" -I"$work" -Werror=date-time "$work/reasons.cpp" 2>"$work/log" || fail "-Werror=date-time: $(cat "$work/log")"

# Nobody writes into a pipe.
rm "$work/reasons.cpp"
mkfifo "$work/reasons.cpp"
flags=-I. check "a pipe as a source"
has_none "a pipe as a source" "is not there as a file"
rm "$work/reasons.cpp" "$work/inner/deep.h"
write 1
rm "$work/inner/deep.h"
mkfifo "$work/inner/deep.h"
flags=-I. check "a pipe as a header"
has_none "a pipe as a header" "deep.h"
[ "$failures" -eq 0 ] && echo "texts are those of the program"
exit "$failures"

#!/bin/bash
# reasons.sh ROOT BUILD: why a kernel of a program of OP2 has no text, each reason once, in the log and by op2jit why-not; flags that come
# from debug information; and always the answers of the functions themselves.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/source" "$work/headers/inner" "$work/empty" "$work/elsewhere"
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_TUNE=off OP2_BACKEND=seq
cp "$root/tests/op2/reasons.cpp" "$work/source/"
echo 'inline double deeper(double x) { return x + 1; }' >"$work/headers/inner/deep.h"
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
build_it() { # COMPILER FLAG...: in the folder of the source; the program lies elsewhere
  local compiler=$1
  shift
  (cd "$work/source" && "$compiler" -O1 -w -std=c++17 -I"$root/include" -I"$root/include/op2" -I../headers "$@" reasons.cpp \
    -o ../elsewhere/program -L"$build" -lop2jit) || exit 1
  expected=$(cd / && env OP2_BACKEND=native "$work/elsewhere/program")
}
check() { # WHAT NAME=VALUE...: the answer is right; the log is in $work/log
  local got
  got=$(cd / && env OP2_CACHE=off OP2_LOG=info,jit "${@:2}" "$work/elsewhere/program" 2>"$work/log")
  [ "$got" = "$expected" ] || fail "$1: $got instead of $expected: $(cat "$work/log")"
}
has_none() { # WHAT LOOP WORDS
  grep -q "loop $2 runs as the program's compiler made it: .*$3" "$work/log" || fail "$1: loop $2 does not say '$3': $(cat "$work/log")"
}
has_text() { # WHAT LOOP
  grep -q "kernel $2 .*compiled in" "$work/log" || fail "$1: loop $2 has no text: $(cat "$work/log")"
}
flags="-I../headers -DSCALE=3"

build_it g++ -DSCALE=3
check "no debug information" OP2_CXXFLAGS="$flags"
has_none "no debug information" scaled "no debug information of 'reasons.cpp'"
build_it g++ -DSCALE=3 -g1
check "flags that are not enough" OP2_CXXFLAGS=-DSCALE=3
has_none "flags that are not enough" plain "does not parse: .*deep.h"
check "flags" OP2_CXXFLAGS="$flags"
has_text "flags" scaled
has_text "flags" plain
has_none "an unknown header" turned "complex"
check "a word that is not there" OP2_CXXFLAGS="$flags -DNEEDED=unheard_of"
has_none "a word that is not there" plain "does not parse: .*unheard_of"
cp -L "$build/libop2jit.so.0" "$work/empty/"
alone=(LD_LIBRARY_PATH="$work/empty" OP2_PLUGINS="$work/empty" OP2_CXXFLAGS="$flags")
check "no compiler plugin" "${alone[@]}"
has_none "no compiler plugin" plain "plugin"
why_not() { (cd / && env OP2_CACHE=off "$@" "$build/runtime/cli/op2jit" why-not "$work/elsewhere/program" 2>/dev/null | grep : >"$work/why") || fail "why-not fails"; }
why_not "${alone[@]}"
[ "$(grep -c 'plugin' "$work/why")" -eq 4 ] || fail "why-not without a plugin says $(cat "$work/why")"
why_not OP2_CXXFLAGS="$flags"
[ "$(cut -d : -f 1 "$work/why")" = turned ] || fail "why-not says $(cat "$work/why")"

# The flags are believed; a doubt is settled by comparing.
(cd / && OP2_CACHE=off OP2_CXXFLAGS="$flags -USCALE -DSCALE=4" OP2_SHADOW=native "$work/elsewhere/program" >"$work/out" 2>"$work/log") &&
  fail "OP2_SHADOW=native takes a text that is not the program's"
grep -q "loop scaled, argument 2.* with native (OP2_SHADOW" "$work/log" || fail "OP2_SHADOW=native: $(cat "$work/log")"
check "the right flags, compared" OP2_CXXFLAGS="$flags" OP2_SHADOW=native

# Debug information knows the folder, the headers' folders, and with clang's option the macros too.
build_it g++ -DSCALE=3 -g
check "g++ -g" OP2_CXXFLAGS=
grep -q "loop scaled: its first calls run in two forms.*SCALE" "$work/log" || fail "g++ -g: nothing is said of SCALE: $(cat "$work/log")"
has_none "g++ -g" scaled "gives other results"
has_none "g++ -g, the second call" later "gives other results"
has_text "g++ -g" plain
if command -v clang++ >/dev/null; then
  build_it clang++ -DSCALE=3 -g -grecord-command-line
  check "clang++ -grecord-command-line" OP2_CXXFLAGS=
  has_text "clang++ -grecord-command-line" scaled
  grep -q "two forms\|loop scaled runs as" "$work/log" && fail "clang++: there is a doubt: $(cat "$work/log")"
else
  echo "left out: there is no clang++"
fi
[ "$failures" -eq 0 ] && echo "each reason is said"
exit "$failures"

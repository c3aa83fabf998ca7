#!/bin/bash
# shared.sh SOURCE FOLDER [OPTION...]: builds the compiler plugin in its shared form, which nothing else does, in a small build of its own
# in FOLDER, and looks at the key of a loop that it compiled.
set -u
source=$1 build=$2
shift 2

fail() {
  echo "shared: $*"
  tail -n 30 "$build.log"
  exit 1
}

again=()
[ -f "$build/build.ninja" ] && again=(--reconfigure)
if ! meson setup ${again[@]+"${again[@]}"} "$build" "$source" -Dclang=shared -Dmpi=disabled -Dhdf5=disabled -Dptscotch=disabled \
  -Dcuda=disabled -Dopenmp=disabled -Dsamples=false "$@" >"$build.log" 2>&1; then
  if reason=$(grep -o 'clang=shared needs .*' "$build.log"); then
    echo "skipped: $reason"
    exit 77
  fi
  fail "the build cannot be configured"
fi
ninja -C "$build" jit/clang/op2jit-clang.so tests/jit/test_compiler_key >"$build.log" 2>&1 || fail "the build failed"
"$build/tests/jit/test_compiler_key" shared

#!/bin/bash
# release.sh ROOT TYPE [PLUGIN]: the library as those build it who install it: by meson's buildtype TYPE, `release` with the compiler
# PLUGIN of another build, or `plain` without one. There are no warnings, which would be no error there, and a program runs.
set -u
root=$1 type=$2 backend=native options=(-Dclang=off)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if [ -n "${3:-}" ]; then
  options=("-Dclang_plugin=$(realpath "$3")")
  backend=seq
fi

fail() {
  echo "$type $1: $(tail -n 30 "$work/log")"
  exit 1
}

if ! meson setup "$work/build" "$root" --buildtype="$type" -Dtests=false -Dsamples=false -Dmpi=disabled -Dhdf5=disabled \
  -Dptscotch=disabled -Dpetsc=disabled "${options[@]}" >"$work/log" 2>&1 || ! ninja -C "$work/build" >>"$work/log" 2>&1; then
  fail "does not build"
fi
if grep -E 'warning: ' "$work/log"; then
  echo "$type builds with warnings"
  exit 1
fi
cc -o "$work/start" "$root/samples/start/start.c" -I"$root/include" -L"$work/build" -Wl,-rpath,"$work/build" -lop2jit -lm || exit 1
OP2_BACKEND=$backend OP2_CACHE=off "$work/start" >"$work/log" 2>&1 || fail "fails on $backend"
grep PASSED "$work/log" || fail "fails on $backend"

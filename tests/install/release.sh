#!/bin/bash
# release.sh ROOT [PLUGIN]: the library as those build it who install it: meson's buildtype `release` with the compiler PLUGIN of
# another build, and `plain` without one. There are no warnings, which would be no error there, and a program runs.
set -u
root=$1 plugin=${2:+$(realpath "$2")}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

build() { # TYPE OPTION...
  if ! meson setup "$work/$1" "$root" --buildtype="$1" -Dtests=false -Dsamples=false -Dmpi=disabled -Dhdf5=disabled \
    -Dptscotch=disabled -Dpetsc=disabled "${@:2}" >"$work/log" 2>&1 || ! ninja -C "$work/$1" >>"$work/log" 2>&1; then
    echo "$1 does not build: $(tail -n 30 "$work/log")"
    exit 1
  fi
  if grep -E 'warning: ' "$work/log"; then
    echo "$1 builds with warnings"
    exit 1
  fi
  cc -o "$work/$1/start" "$root/samples/start/start.c" -I"$root/include" -L"$work/$1" -Wl,-rpath,"$work/$1" -lop2jit -lm || exit 1
}

runs() { # TYPE BACKEND
  echo "$1, $2:"
  OP2_BACKEND=$2 OP2_CACHE=off "$work/$1/start" >"$work/log" 2>&1 && grep PASSED "$work/log" && return
  echo "it fails: $(cat "$work/log")"
  exit 1
}

build plain -Dclang=off
runs plain native
[ -n "$plugin" ] || exit 0
build release "-Dclang_plugin=$plugin"
runs release seq

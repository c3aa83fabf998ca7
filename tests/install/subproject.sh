#!/bin/bash
# subproject.sh ROOT: the tree inside of another meson project, as its subproject: dependency('op2jit') is found there, the
# program of samples/start is built with it, and passes.
set -u
root=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/subprojects" && cp "$root/samples/start/start.c" "$work" && ln -s "$root" "$work/subprojects/op2jit" || exit 1
cat >"$work/meson.build" <<'END'
project('start', 'c', default_options: ['buildtype=debugoptimized'])
executable('start', 'start.c', dependencies: [dependency('op2jit', fallback: 'op2jit'), meson.get_compiler('c').find_library('m')])
END
# The library of this tree, and not one that is installed; only what the program needs.

if ! meson setup "$work/build" "$work" --wrap-mode=forcefallback -Dop2jit:clang=off -Dop2jit:mpi=disabled -Dop2jit:hdf5=disabled \
  -Dop2jit:ptscotch=disabled -Dop2jit:petsc=disabled >"$work/log" 2>&1 || ! ninja -C "$work/build" start >>"$work/log" 2>&1; then
  echo "it does not build: $(tail -n 30 "$work/log")"
  exit 1
fi
OP2_BACKEND=native "$work/build/start" >"$work/log" 2>&1 && grep PASSED "$work/log" && exit 0
echo "it fails: $(cat "$work/log")"
exit 1

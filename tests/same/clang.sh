#!/bin/bash
# clang.sh ROOT PLUGIN PROGRAM: the library as clang builds it leaves the same bits (OP2_REPRODUCIBLE) as the one of this build, with which
# the PROGRAM test-same-bits runs. Both use the compiler PLUGIN of this build.
set -u
root=$1 plugin=$(realpath "$2") program=$3
if ! command -v clang >/dev/null || ! command -v clang++ >/dev/null; then
  echo "skipped: there is no clang"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! CC=clang CXX=clang++ meson setup "$work/build" "$root" --buildtype=release -Dtests=false -Dsamples=false -Dmpi=disabled -Dhdf5=disabled \
  -Dptscotch=disabled -Dpetsc=disabled "-Dclang_plugin=$plugin" >"$work/log" 2>&1 || ! ninja -C "$work/build" >>"$work/log" 2>&1; then
  echo "clang does not build the library: $(tail -n 30 "$work/log")"
  exit 1
fi
clang -O2 -o "$work/bits" "$root/tests/same/bits.c" -I"$root/include" -L"$work/build" -Wl,-rpath,"$work/build" -lop2jit -lm || exit 1
status=0
while read -ra words; do
  gcc=$(OP2_CACHE=off "$program" "${words[@]}" OP2_REPRODUCIBLE=on) && clang=$(OP2_CACHE=off "$work/bits" "${words[@]}" OP2_REPRODUCIBLE=on) || exit 1
  echo "${gcc##* } ${clang##* } ${words[*]}"
  [ "$gcc" = "$clang" ] || status=1
done <<'ROWS'
size=60 steps=3 meets OP2_BACKEND=seq OP2_TUNE=off
shuffled size=60 steps=3 meets OP2_BACKEND=openmp OP2_THREADS=3 OP2_VARIANT=strip8/threads3
size=60 steps=3 renumber OP2_BACKEND=openmp OP2_THREADS=2 OP2_VARIANT=gather/scalar/threads2
size=150 steps=3 OP2_BACKEND=openmp OP2_THREADS=3 OP2_TUNE=off
ROWS
[ $status = 0 ] && echo "the bits are the same"
exit $status

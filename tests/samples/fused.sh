#!/bin/bash
# usage: fused.sh BUILD TESTS [write]: the text of fused loops of airfoil and of aero, its vector operations one by one, against golden
# files: what is read, called and stored. What those of tests/jit have too is named there. Needs bench/turns_airfoil, bench/turns_aero_parts
# and tests/jit/test_generate.
set -eu
build=$1 golden=$2/samples/golden pieces=$2/jit/golden write=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OP2_LAZY=on OP2_FUSE=on OP2_BACKEND=seq OP2_CACHE=off OP2_TUNE=off OP2_THREADS=1
unset OP2_KERNELS OP2_CHECK OP2_SHADOW OP2_TIMING
for shape in scalar strip4; do
  export OP2_VARIANT=$shape OP2_DUMP=$work/$shape
  mkdir "$OP2_DUMP"
  echo 2 | "$build/bench/turns_airfoil" first 300 /dev/null >"$work/out"
  echo 2 | "$build/bench/turns_aero_parts" first 10 /dev/null >"$work/out"
done
wrong=0
for one in update+save_soln+adt_calc-scalar update+save_soln+adt_calc-strip4 subtract+norm-scalar subtract+norm-strip4; do
  shape=${one##*-} loop=${one%-*}
  found=("$work/$shape/$one"-*/"$loop.loop.c")
  if [ ! -f "${found[0]}" ]; then
    echo "$one: no such loop was made"
    wrong=1
    continue
  fi
  "$build/tests/jit/test_generate" "$pieces" shorten "${found[0]}" >"$work/$one.c"
  if [ "$write" = write ]; then
    cp "$work/$one.c" "$golden/$one.c"
  elif ! diff -u "$golden/$one.c" "$work/$one.c"; then
    wrong=1
  fi
done
exit $wrong

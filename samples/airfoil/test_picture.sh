#!/bin/sh
# Pictures under mpirun: of a mesh that the first rank has; of one that the ranks share it is said at the start that there is none.
# Usage: test_picture.sh RUN KIND AIRFOIL [arguments]
set -eu
run=$1 kind=$2 airfoil=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

on() { # ranks, arguments
  ranks=$1
  shift
  "$run" "$kind" "$ranks" "$airfoil" --iters 2 --picture "$folder/field.png" "$@" >"$folder/out" 2>&1
}

fail() {
  echo "FAILED: $1"
  cat "$folder/out"
  exit 1
}

"$airfoil" --cells 300 --iters 1 --write-mesh "$folder/mesh.dat" "$@" >"$folder/out" 2>&1 || fail "no mesh"
on 2 --mesh "$folder/mesh.dat" "$@" || {
  status=$?
  [ $status = 77 ] && exit 77
  fail "a picture of the first rank's mesh"
}
[ -s "$folder/field.png" ] || fail "there is no picture"
rm "$folder/field.png"
if on 3 --cells 300 "$@"; then
  fail "a picture of what the ranks share is refused"
fi
[ "$(grep -c "3 ranks share the mesh" "$folder/out")" = 1 ] || fail "once, with the reason"
if grep -q -e PASSED -e "^airfoil: [0-9]* nodes" "$folder/out" || [ -e "$folder/field.png" ]; then
  fail "before anything is computed"
fi

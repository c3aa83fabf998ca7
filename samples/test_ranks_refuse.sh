#!/bin/sh
# What a sample cannot take is said once under mpirun, by the first rank, and all ranks end. Usage: test_ranks_refuse.sh RUN KIND RANKS SAMPLE
set -eu
run=$1 kind=$2 ranks=$3 program=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo precious >"$folder/text"
status=0
"$run" "$kind" "$ranks" true >/dev/null 2>&1 || status=$?
[ $status != 77 ] || exit 77

refuses() { # what is said, arguments
  expected=$1
  shift
  # Each time another rank may come first.
  for _ in 1 2 3; do
    status=0
    "$run" "$kind" "$ranks" "$program" "$@" OP2_BACKEND=native OP2_CACHE=off >"$folder/said" 2>&1 || status=$?
    if [ $status != 2 ] || [ "$(grep -cFe "$expected" "$folder/said")" != 1 ] || grep -q PASSED "$folder/said"; then
      echo "FAILED: $*: status $status, not 2 and once '$expected':"
      cat "$folder/said"
      exit 1
    fi
  done
}

refuses "--picture $folder/none/p.png: the file cannot be written: No such file or directory" --picture "$folder/none/p.png"
refuses "--write $folder/text: this is not an HDF5 file; it is left alone" --write "$folder/text"
refuses "--n abc: expected a whole number" --n abc
[ "$(cat "$folder/text")" = precious ]
[ "$(ls "$folder")" = "said
text" ]

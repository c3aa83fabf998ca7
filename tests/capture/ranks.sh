#!/bin/bash
# ranks.sh KIND RUN OP2JIT KINDS COUNT...: on so many ranks one call of each loop is kept; each rank's file runs alone, with the
# results of its own rows.
set -eu
kind=$1 run=$(realpath "$2") op2jit=$(realpath "$3") kinds=$(realpath "$4")
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OP2_CACHE=$folder/kernels.db
for count; do
  for loop in flux update gather some sums states; do
    "$run" "$kind" "$count" "$kinds" "OP2_CAPTURE=$loop:2:$loop.$count" >log 2>&1 || { status=$?; cat log; [ $status = 77 ] && exit 77; exit 1; }
    for ((rank = 0; rank < count; rank++)); do
      "$op2jit" replay "$loop.$count.$rank" --run-code OP2_MPI=off >said || { echo "$loop on rank $rank of $count"; cat said; exit 1; }
      grep -q "the results are those of the file" said
    done
  done
done
if "$run" "$kind" 2 "$kinds" OP2_CAPTURE=flux:1+:period >log 2>&1; then echo "a period of ranks"; exit 1; fi
grep -q "of several ranks one call can be kept" log && ! test -e period.0
echo "files of $* ranks run alone"

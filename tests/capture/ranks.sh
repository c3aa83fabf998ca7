#!/bin/bash
# ranks.sh KIND RUN OP2JIT KINDS COUNT...: on so many ranks one call of each loop is kept, and two steps of all; each rank's file
# runs alone, with the results of its own rows.
set -eu
kind=$1 run=$(realpath "$2") op2jit=$(realpath "$3") kinds=$(realpath "$4")
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OP2_CACHE=$folder/kernels.db
for count; do
  for what in flux:2 update:2 gather:2 some:2 sums:2 states:2 fill:4 flux:1+18; do
    "$run" "$kind" "$count" "$kinds" "OP2_CAPTURE=$what:$what.$count" >log 2>&1 || { status=$?; cat log; [ $status = 77 ] && exit 77; exit 1; }
    for ((rank = 0; rank < count; rank++)); do
      "$op2jit" replay "$what.$count.$rank" --run-code OP2_MPI=off >said || { echo "$what on rank $rank of $count"; cat said log; exit 1; }
      grep -q "the results are those of the file" said
    done
  done
  # Rows from other ranks are there: of numbers, of structs, and nothing that is known.
  "$op2jit" replay "flux:1+18.$count.0" >said
  grep -A1 "^loop receive_copies" said | grep -q "struct state" && [ "$(grep -c "^loop receive_copies" said)" -gt 3 ] || { cat said; exit 1; }
done
echo "files of $* ranks run alone"

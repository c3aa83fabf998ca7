#!/bin/sh
# advice.sh PROGRAM: with OP2_LOG=advice the example of the manual says what would pay, and nothing without.
set -eu
export OP2_L3=1M OP2_TUNE=off
said=$("$1" OP2_LOG=advice 2>&1)
echo "$said"
echo "$said" | grep -q "advice: in the order of map edge_cells each line of memory is fetched [0-9.]* times into the 1 MB of cache; op_renumber brings that near 1 (loops through it have 100% of the time, most of it flow)"
echo "$said" | grep -q "advice: no loop reads dat old (2.1 MB), nor does the program fetch it; leave it out"
test "$(echo "$said" | wc -l)" = 2
test -z "$("$1" 2>&1)"
# What all fits into needs no other order; and the report has the same lines.
"$1" OP2_L3=64M OP2_TIMING=text | tee /dev/stderr | grep -q "^advice: no loop reads dat old"
! "$1" OP2_L3=64M OP2_LOG=advice 2>&1 | grep "op_renumber"

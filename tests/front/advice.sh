#!/bin/sh
# advice.sh PROGRAM MACHINES: with OP2_LOG=advice the example of the manual says what would pay, and nothing without. MACHINES: what
# machines say of their caches.
set -eu
export OP2_TUNE=off
forgotten="no loop reads dat old (4.2 MB), nor does the program fetch it; leave it out"
fetched() { echo "in the order of map edge_cells each line of memory is fetched [0-9.]* times into the 1 MB of cache$1 (loops through it have 100% of the time, most of it flow)"; }
said=$("$1" OP2_L3=1M OP2_THREADS=2 OP2_LOG=advice 2>&1)
echo "$said"
echo "$said" | grep -q "advice: $(fetched '; op_renumber brings that near 1')"
echo "$said" | grep -q "advice: $forgotten"
test "$(echo "$said" | wc -l)" = 2
test -z "$("$1" OP2_L3=1M 2>&1)"
# The last-level cache has room for all, and hides what a core's own one has to fetch.
"$1" OP2_MACHINE="$2/8x32M" OP2_LOG=advice 2>&1 | tee /dev/stderr |
  grep -q "advice: $(fetched ' of a core; op_renumber brings that down')"
# A cache that holds all needs no other order, on one thread; and the report has the same lines.
export OP2_MACHINE="$2/16M-each" OP2_THREADS=1 OP2_BACKEND=seq
"$1" OP2_TIMING=text | tee /dev/stderr | grep -q "^advice: $forgotten"
! "$1" OP2_LOG=advice 2>&1 | grep "op_renumber"

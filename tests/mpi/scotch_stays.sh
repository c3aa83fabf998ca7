#!/bin/bash
# scotch_stays.sh RUN PROGRAM: ranks that wait inside PT-Scotch for one that failed there end with the job, and one message says why.
set -u
run=$1 program=$2
command -v mpirun.openmpi >/dev/null || {
  echo "skipped: there is no mpirun.openmpi"
  exit 77
}
said=$(JOB_SECONDS=60 "$run" openmpi 3 "$program" stays OP2_HANG=1 2>&1)
status=$?
echo "$said"
if [ "$status" -eq 0 ] || [ "$status" -ge 124 ]; then
  echo "the job did not end by itself ($status)"
  exit 1
fi
[ "$(grep -c 'op2jit: rank 2: error: .*PT-Scotch failed in SCOTCH_dgraphPart' <<<"$said")" -eq 1 ] || {
  echo "not one message that says what happened"
  exit 1
}

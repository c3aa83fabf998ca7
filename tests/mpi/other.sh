#!/bin/bash
# other.sh RUN KIND PROGRAM: the program, which is linked with another MPI, under the launcher of KIND: an error, whatever it calls, and none
# with OP2_MPI=off, where single runs are asked for.
set -u
run=$1 kind=$2 program=$3
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
for call in plain comm; do
  said=$("$run" "$kind" 2 "$program" $call 2>&1)
  status=$?
  case $status:$said in
  0:*) ;;
  *"error: OP_ERR_MPI: the launcher of "*" started 2 processes, "*"they would be single runs side by side"*) continue ;;
  esac
  echo "FAILED: $call: status $status and $said"
  exit 1
done
OP2_MPI=off "$run" "$kind" 2 "$program" plain

#!/bin/bash
# gpu.sh RUN KIND PROGRAM [VARIABLE...]: halos of ranks on GPUs: right on 2 and 3 ranks, and every planted mistake is found on 2.
set -u
run=$1 kind=$2 program=$3
shift 3
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
for ranks in 2 3; do
  "$run" "$kind" $ranks "$program" right "$@" || {
    echo "$ranks ranks: it is not right"
    exit 1
  }
done
for mistake in more overlap early beside; do
  said=$(STANDIN_QUIET=1 "$run" "$kind" 2 "$program" $mistake "$@" 2>&1)
  status=$?
  # Which status the job has is up to mpirun: the first rank that ends takes the others with it, by a signal or with its own.
  if [ $status -eq 0 ] || [ $status -eq 124 ] || [ $status -eq 137 ] || [[ $said != *"$mistake: found"* ]] || [[ $said == *"not found"* ]]; then
    echo "$mistake is not found (status $status): $said"
    exit 1
  fi
done
echo "right on 2 and 3 ranks; four mistakes found"

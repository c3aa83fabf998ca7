#!/bin/bash
# gpu.sh RUN KIND PROGRAM MISTAKES [VARIABLE...]: halos of ranks on GPUs: right on 2 and 3 ranks, and every planted mistake, of a
# list with ',' between them, is found on 2. A first word "direct" in the list: ranks write into each other's memory, and what
# that can end with is tried, too.
set -u
run=$1 kind=$2 program=$3 mistakes=${4#direct,}
[ "$mistakes" != "$4" ] && ends="refused told" || ends=""
shift 4
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
for end in $ends; do
  "$run" "$kind" 2 "$program" "$end" "$@" || {
    echo "it does not end as it should: $end"
    exit 1
  }
done
for mistake in ${mistakes//,/ }; do
  said=$(STANDIN_QUIET=1 "$run" "$kind" 2 "$program" $mistake "$@" 2>&1)
  status=$?
  # Which status the job has is up to mpirun: the first rank that ends takes the others with it, by a signal or with its own.
  if [ $status -eq 0 ] || [ $status -eq 124 ] || [ $status -eq 137 ] || [[ $said != *"$mistake: found"* ]] || [[ $said == *"not found"* ]]; then
    echo "$mistake is not found (status $status): $said"
    exit 1
  fi
done
echo "right on 2 and 3 ranks; found: $mistakes"

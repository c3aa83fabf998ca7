#!/bin/bash
# ranks.sh RUN BRIDGE RANKS...: the bridge alone and on so many ranks, in both forms of matrices: conjugate gradients have the same
# residuals.
set -u
run=$1 bridge=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$bridge" "$work/0" || exit 1
OP2_VARIANT=csr "$bridge" "$work/rows" || exit 1
diff "$work/0" "$work/rows" || exit 1
for ranks; do
  for form in coo csr; do
    OP2_VARIANT=$form "$run" openmpi "$ranks" "$bridge" "$work/$ranks" || exit 1
    diff "$work/0" "$work/$ranks" || exit 1
  done
done

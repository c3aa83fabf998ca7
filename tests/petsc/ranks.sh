#!/bin/bash
# ranks.sh RUN BRIDGE RANKS...: the bridge alone and on so many ranks, where conjugate gradients have the same residuals.
set -u
run=$1 bridge=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$bridge" "$work/0" || exit 1
for ranks; do
  "$run" openmpi "$ranks" "$bridge" "$work/$ranks" || exit 1
  diff "$work/0" "$work/$ranks" || exit 1
done

#!/bin/bash
# tune.sh RUN KIND RANKS PROGRAM: the program with a database of its own.
set -u
run=$1 kind=$2 ranks=$3 program=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
OP2_CACHE=$work/kernels.db "$run" "$kind" "$ranks" "$program" "$ranks" || exit

# Ranks begin anew in each run: a choice after some of the trials is kept, but the loop is not called tuned.
for again in 1 2; do
  said=$(OP2_CACHE=$work/short.db "$run" "$kind" "$ranks" "$program" "$ranks" 40 2>&1) || {
    echo "FAILED: short run $again: $said"
    exit 1
  }
  case $said in
  *"loop mix (elements="*") is not tuned yet: "*" more calls in one run are needed"*) ;;
  *)
    echo "FAILED: short run $again does not say that it was too short: $said"
    exit 1
    ;;
  esac
done

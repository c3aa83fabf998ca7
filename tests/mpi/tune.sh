#!/bin/bash
# tune.sh RUN KIND RANKS PROGRAM: the program with a database of its own.
set -u
run=$1 kind=$2 ranks=$3 program=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
OP2_CACHE=$work/kernels.db "$run" "$kind" "$ranks" "$program" "$ranks"

#!/bin/sh
# A second process compiles nothing: a sample runs with an empty cache, and again with OP2_JIT=load, where a
# loop that had to be compiled is an error. Usage: test_warm.sh SAMPLE [arguments]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
OP2_CACHE=$folder/kernels.db
export OP2_CACHE
"$@"
OP2_JIT=load "$@"

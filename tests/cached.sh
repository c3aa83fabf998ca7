#!/bin/sh
# cached.sh PROGRAM [ARGUMENT...]: the program with a file of compiled code of its own, so that a text which it compiles in each of its
# tests is compiled once.
kept=$(mktemp -d) || exit 1
trap 'rm -rf "$kept"' EXIT
OP2_CACHE=$kept/kernels.db "$@"

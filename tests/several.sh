#!/bin/bash
# several.sh PROGRAM ROW... [-- ARGUMENT...]: the program with the words of one row after another, and the arguments each time. The runs
# share a file of compiled code: what one has compiled, those after it load.
set -u
program=$1
shift
rows=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  rows+=("$1")
  shift
done
[ $# -eq 0 ] || shift
kept=$(mktemp -d) || exit 1
trap 'rm -rf "$kept"' EXIT
failures=0
for row in "${rows[@]}"; do
  read -ra words <<<"$row"
  echo "== $row"
  "$program" "${words[@]}" "$@" OP2_CACHE="$kept/kernels.db" || {
    echo "failed: $row"
    failures=$((failures + 1))
  }
done
exit "$failures"

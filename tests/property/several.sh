#!/bin/bash
# several.sh PROPERTY ROW... [-- ARGUMENT...]: rows of words, BACKEND VARIANT CASES (VARIANT `default`: none is said), one run after
# another that share a file of compiled code: what one row has compiled, those after it load. All runs get the arguments.
set -u
property=$1
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
  read -r backend variant cases <<<"$row"
  said=()
  [ "$variant" = default ] || said=(--variant "$variant")
  "$property" --backend "$backend" --cases "$cases" ${said[@]+"${said[@]}"} "$@" OP2_CACHE="$kept/kernels.db" || {
    echo "failed: $row"
    failures=$((failures + 1))
  }
done
exit "$failures"

#!/bin/bash
# ranks.sh RUN KIND RANKS... -- PROGRAM [ARGUMENT...]: a sample of tasks on one rank, and by RUN on so many: the answers have
# the same bits, for with OP2_REPRODUCIBLE=on tasks that lock the same run in one order. Where a rank says how many bricks of
# particles it has, it has not all of them.
set -u
run=$1 kind=$2
shift 2
ranks=()
while [ "$1" != -- ]; do
  ranks+=("$1")
  shift
done
shift
export OP2_REPRODUCIBLE=on
# Lines that depend neither on time nor on who did it.
answers() {
  grep -E 'bits|sum|PASSED'
}
expected=$("$@" --ranks 1 | answers)
case $expected in
*PASSED*) ;;
*)
  echo "on one process: $expected"
  exit 1
  ;;
esac
for n in "${ranks[@]}"; do
  found=$(bash "$run" "$kind" "$n" "$@")
  status=$?
  [ $status = 77 ] && exit 77
  if [ $status != 0 ] || [ "$(answers <<<"$found")" != "$expected" ]; then
    printf 'on %s ranks:\n%s\nexpected, with status 0 and not %s:\n%s\n' "$n" "$found" "$status" "$expected"
    exit 1
  fi
  if ! sed -n 's/.*this one has \([0-9]*\) of \([0-9]*\) bricks.*/\1 \2/p' <<<"$found" | awk '$1 >= $2 { exit 1 }'; then
    printf 'on %s ranks one has all bricks:\n%s\n' "$n" "$found"
    exit 1
  fi
done

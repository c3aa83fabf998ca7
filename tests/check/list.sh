#!/bin/bash
# list.sh PROGRAM RUN KIND...: OP2_CHECK=list collects what it finds and goes on as a plain run: with the data of one, the same list on
# any number of ranks (RUN is tests/mpi/run.sh, KIND each MPI that is there), and a status that says it.
set -u
program=$1 run=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OP2_CACHE=$work/kernels.db
failures=0

fail() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

run() { # STATUS WORD...: runs the program, whose status is to be this; sets `said` and `printed`
  local expected=$1
  shift
  "$program" "$@" >"$work/out" 2>"$work/err"
  local status=$?
  printed=$(<"$work/out") said=$(<"$work/err")
  [ $status -eq "$expected" ] || fail "$*: the status is $status instead of $expected: $said"
}

says() { # WORDS...: each is in `said`
  for words in "$@"; do
    grep -qF -- "$words" <<<"$said" || fail "'$words' is not in: $said"
  done
}

violation=23
found=('OP2_CHECK=list found 3 mistakes'
  '  loop gaps, argument 2, write: OP_WRITE is not written in every component; seen 48 times, first:'
  ': loop gaps, argument 2 (dat "a", OP_WRITE), element 3 of set "nodes": the kernel did not write component 1'
  '  loop gaps, argument 3, write: OP_WRITE is not written in every component; seen 24 times, first:'
  '  loop meets, argument 2, meet: elements write one target, and their order decides what it gets; seen 236 times, first:'
  'elements 2 and 3 of set "edges" both write element 1 of set "nodes" (map "map")')

run 0 OP2_LOG=error
plain=$printed
[ -z "$said" ] || fail "without the check it says: $said"
run $violation OP2_CHECK=list
says "${found[@]}"
[ "$printed" = "$plain" ] || fail "listed: $printed, and without the check $plain"
[ "$(grep -c op2jit: <<<"$said")" -eq 1 ] || fail "it is not one block: $said"
[ "$(grep -oE 'loop (gaps|meets|right), argument [0-9]+, ' <<<"$said" | sort -c 2>&1)" = "" ] || fail "it is not sorted: $said"

# The first one is an error, and a program ends there.
run 1 OP2_CHECK=on
says 'OP_ERR_VIOLATION' 'loop gaps, argument 2 (dat "a", OP_WRITE), element 3'

# Some loops alone.
run $violation OP2_CHECK=list:meets,right
says 'found 1 mistake' '  loop meets, argument 2, meet'
run 0 OP2_LOG=error OP2_CHECK=list:right
[ -z "$said" ] || fail "nothing is wrong with loop right: $said"

# A kernel that the prover refuses is listed and runs; nobody else gets its code.
if [ "$OP2_BACKEND" != native ]; then
  run $violation OP2_CHECK=list half gaps
  says 'found 4 mistakes' '  loop half, write: OP_WRITE is not written in every component; seen 1 time, first:' 'seen in a run with' \
    '  loop half, argument 2, write: OP_WRITE is not written in every component; seen 480 times, first:'
  run 1 half
  says 'OP_ERR_VIOLATION' 'never writes component 1'
  run $violation OP2_CHECK=list half
  says 'loop half, write' 'found 2 mistakes'
  run $violation OP2_CHECK=list none
  says 'found 1 mistake' '  loop half, write: OP_WRITE is not written in every component; seen 1 time, first:'
fi

# Where a plain run would end the process nobody can go on; what was found is said all the same.
if [ "$(uname -m)" = x86_64 ]; then
  run 1 OP2_CHECK=list gaps divides
  says 'found 3 mistakes' '  loop gaps, argument 2, write' '  loop divides, division' 'OP2_CHECK=list cannot go on'
fi

for kind in "$@"; do
  for ranks in 2 3; do
    "$run" "$kind" "$ranks" "$program" OP2_CHECK=list >"$work/out" 2>"$work/err"
    status=$?
    said=$(<"$work/err")
    case $status in
    0 | 77 | 124) fail "$ranks ranks of $kind: the status is $status: $said" ;;
    esac
    says "${found[@]}"
    [ "$(grep -c op2jit: <<<"$said")" -eq 1 ] || fail "$ranks ranks of $kind: it is not one list: $said"
  done
done
exit "$failures"

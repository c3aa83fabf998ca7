#!/bin/bash
# errors.sh RUN KIND RANKS PROGRAM: any rank's error ends the job with one message that names the rank; so does the end of a rank.
set -u
run=$1 kind=$2 ranks=$3 program=$4
last=$((ranks - 1))
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

# The jobs mostly wait, for what does not come or for the ends of others: so several run beside one another, and all of them before the
# first is judged. A job is known by its words.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

start() { # SCENARIO [VARIABLE...]
  while [ "$(jobs -rp | wc -l)" -ge 4 ]; do wait -n; done
  (
    env JOB_SECONDS=60 "${@:2}" "$run" "$kind" "$ranks" "$program" "$ranks" "$1" >"$work/$*" 2>&1
    echo $? >"$work/$*.status"
  ) &
}

job() { # SCENARIO [VARIABLE...], which was started: sets `said` and `status`
  said=$(<"$work/$*")
  status=$(<"$work/$*.status") # a number, or the shell says that it was never started
}

ends_with() { # SCENARIO COUNT WORDS: so many messages of the library, with these words
  local scenario=$1 count=$2 words=$3 found
  found=$(grep -E 'op2jit: (error|rank)' <<<"$said" | grep -cv OP2_CAPTURE=) # the first one says how to keep the call
  [ "$status" -ne 0 ] || fail "$scenario: the job ended well"
  [ "$status" -lt 124 ] || [ "$status" -eq 137 ] || fail "$scenario: the job did not end by itself ($status)"
  [ "$found" -eq "$count" ] || fail "$scenario: $found messages instead of $count: $said"
  [ "$count" -eq 0 ] || grep -qF "$words" <<<"$said" || fail "$scenario: no '$words' in: $said"
  [[ $said != *"went well"* ]] || fail "$scenario: it went on"
}

after=OP2_HANG=1
[ "$kind$ranks" != openmpi2 ] || after=OP2_LOG=warn # as long as it takes by itself
start other-fetch "$after"
for scenario in late late-loop slow other-exit other-partition other-loop other-result late-other-result late-missing; do start $scenario OP2_HANG=1; done
for scenario in late one all local local-all refused no-code no-code-no-elements killed leaves environment environment-and-goes-on other-start other-starts-and-goes-on late-goes-on late-alone; do start $scenario; done
for scenario in violates violates-and-goes-on; do start $scenario OP2_CHECK=on; done
wait

everyone="all $ranks ranks: "
job one
ends_with one 1 "OP_ERR_MAP_RANGE: rank $last: "
job all
ends_with all 1 "OP_ERR_MAP_RANGE: $everyone"
job local
ends_with local 1 "rank $last: OP_ERR_HANDLE: "
job local-all # each rank by itself: how many say it before the launcher ends them is chance
# shellcheck disable=SC2001 # a pattern
said=$(sed 's/^op2jit: error: rank [0-9]*: /op2jit: error: /' <<<"$said" | awk '!told[$0]++')
ends_with local-all 1 "op2jit: error: OP_ERR_HANDLE: "
job refused
ends_with refused 1 "rank $last: OP_ERR_BUSY: "
job environment
ends_with environment 1 "OP_ERR_ENV: rank $last: OP2_THREADS=many"
job environment-and-goes-on
[[ $status -eq 0 && $said = *"went well"* ]] || fail "environment-and-goes-on: $said"
job other-start
ends_with other-start 1 "loop start, argument 2, which the loop changes, before it: double 1, 7 on rank $last, double 1, 2 on rank 0"
job other-starts-and-goes-on
[[ $status -eq 0 && $said = *"went well"* ]] || fail "other-starts-and-goes-on: $said"
job no-code
ends_with no-code 1 "$everyone"
job no-code-no-elements
ends_with no-code-no-elements 1 "OP_ERR_COMPILE: "
job violates OP2_CHECK=on
ends_with violates 1 "OP_ERR_VIOLATION: "
ends_with violates 1 "test_errors.c:"
ends_with violates 1 ": rank $last: loop leaves_gap, argument 2 (dat \"x\", OP_WRITE), element $((3 * last + 1)) of set \"cells\": "
job violates-and-goes-on OP2_CHECK=on
[[ $status -eq 0 && $said = *"went well"* ]] || fail "violates-and-goes-on: $said"
job killed
ends_with killed 0 ""
job leaves
ends_with leaves 0 ""

# The ranks that differ are found though no loop asks before it runs. Where rank 0 is not heard for two seconds, as on a machine that
# does much else, the lower rank of another pair says what it found.
differs() { # SCENARIO VARIABLE WORDS...: one message with all of them
  local scenario=$1 word
  job "$scenario" "$2"
  said=$(grep -v 'warning: has waited' <<<"$said" | sed 's/^op2jit: error: rank [0-9]*: /op2jit: error: /' |
    awk '{ fact = /they wait for each other/ ? "differ" : $0 } !/^op2jit: error: / || !told[fact]++')
  shift 2
  for word in "$@"; do
    ends_with "$scenario" 1 "$word"
  done
}
# With four ranks the second has both its neighbours in the loop, and is already behind it: which pair is found first is chance.
flow=$'flow (messages)\nop_exit (a reduction)' # either
differs other-fetch "$after" "$flow" "op_fetch_data" "and they wait for each other" "same calls in the same order"
differs other-exit OP2_HANG=1 "flow (messages)" "op_exit" "and they wait for each other"
differs other-partition OP2_HANG=1 "sum (a gather)" "op_partition" "and they wait for each other"
differs other-loop OP2_HANG=1 "$flow" "back (messages)" "and they wait for each other"
differs other-result OP2_HANG=1 "rank $last calls loop add, rank 0 calls loop sum"
differs late-other-result OP2_HANG=1 "rank $last calls loop add, rank 0 calls loop sum"
differs late-missing OP2_HANG=1 "sum (results)" "op_exit" "and they wait for each other"
for scenario in late-goes-on late-alone; do
  job $scenario
  [[ $status -eq 0 && $said == *"went well"* && $said != *"op2jit: error"* ]] || fail "$scenario: $said"
done
job slow OP2_HANG=1
[[ $status -eq 0 && $said == *"went well"* && $said != *error* ]] || fail "slow: $said"

waits_in() { # SCENARIO WORDS: all ranks but the last, which comes late, say that they wait there
  local scenario=$1 words=$2 rank
  job "$scenario" OP2_HANG=1
  [ "$status" -eq 0 ] || fail "$scenario: the job failed: $said"
  for ((rank = 0; rank < last; rank++)); do
    grep -qE "op2jit: rank $rank: warning: has waited for [0-9]+ s in $words" <<<"$said" ||
      fail "$scenario: rank $rank did not say where it waits: $said"
  done
  ! grep -qE "rank $last: warning: has waited for [0-9]+ s in $words" <<<"$said" ||
    fail "$scenario: the late rank complained: $said"
}

waits_in late op_barrier
waits_in late-loop "loop set"
job late
[[ $status -eq 0 && $said != *warning* ]] || fail "late, without OP2_HANG: $said"

[ "$failures" -eq 0 ] && echo "$(find "$work" -name '*.status' | wc -l) jobs, each as expected"
exit "$failures"

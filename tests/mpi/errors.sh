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

job() { # SCENARIO [VARIABLE...]: sets `said` and `status`
  local scenario=$1
  shift
  said=$(env JOB_SECONDS=60 "$@" "$run" "$kind" "$ranks" "$program" "$ranks" "$scenario" 2>&1)
  status=$?
}

ends_with() { # SCENARIO COUNT WORDS: so many messages of the library, with these words
  local scenario=$1 count=$2 words=$3 found
  found=$(grep -cE 'op2jit: (error|rank)' <<<"$said")
  [ "$status" -ne 0 ] || fail "$scenario: the job ended well"
  [ "$status" -lt 124 ] || [ "$status" -eq 137 ] || fail "$scenario: the job did not end by itself ($status)"
  [ "$found" -eq "$count" ] || fail "$scenario: $found messages instead of $count: $said"
  [ "$count" -eq 0 ] || grep -qF "$words" <<<"$said" || fail "$scenario: no '$words' in: $said"
  [[ $said != *"went well"* ]] || fail "$scenario: it went on"
}

everyone="all $ranks ranks: "
job one
ends_with one 1 "OP_ERR_MAP_RANGE: rank $last: "
job all
ends_with all 1 "OP_ERR_MAP_RANGE: $everyone"
job local
ends_with local 1 "rank $last: OP_ERR_HANDLE: "
job no-code
ends_with no-code 1 "$everyone"
job killed
ends_with killed 0 ""
job leaves
ends_with leaves 0 ""

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

[ "$failures" -eq 0 ] && echo "nine jobs, each as expected"
exit "$failures"

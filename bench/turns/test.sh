#!/bin/bash
# test.sh TURNS.PY BUILD: ./dev bench turns runs on small sizes, refuses what it does not know, and says what fails. No time is
# looked at.
set -u
turns=$1 build=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
unset OP2_THREADS OMP_NUM_THREADS OP2_TUNE OP2_CACHE

expect() { # STATUS WORDS COMMAND...: the status, and the words somewhere in the output
  local status=$1 words=$2 output got
  shift 2
  output=$("$@" 2>&1 </dev/null)
  got=$?
  if [ $got -ne "$status" ] || [[ $output != *"$words"* ]]; then
    echo "$* ended with $got and said: $output"
    echo "expected were $status and: $words"
    failures=$((failures + 1))
  fi
}
in_turns() { python3 "$turns" "$@"; }

table=$(OP2_THREADS=2 in_turns "$build" --quick)
status=$?
lines=$(grep -cE '^[a-z_]+ +[0-9]+ +2 +[0-9.]+ \([0-9.]+ - [0-9.]+\) +[0-9.]+ \([0-9.]+ - [0-9.]+\) +[0-9.]+$' <<<"$table")
if [ $status -ne 0 ] || [ "$lines" -ne 5 ]; then
  echo "status $status, $lines lines of 5:"
  echo "$table"
  failures=$((failures + 1))
fi

expect 0 "usage: ./dev bench turns" in_turns - --help
expect 0 "" in_turns - --runs 2 heat laplace
expect 2 "no sample nosuch; there are: laplace heat " in_turns - heat nosuch
expect 2 "0: expected a whole number from 1" in_turns - --runs 0 heat
OP2_THREADS=many expect 2 "turns: OP2_THREADS=many: expected a number of threads" in_turns "$build" --quick heat
expect 1 "turns_heat: No such file or directory: it needs the samples" in_turns "$folder" --quick heat

# Answers of other steps are not the same.
driver=$build/bench/turns_laplace
export OP2_CACHE=off
batch() { # STEPS ARGUMENT...
  local steps=$1
  shift
  echo "$steps" | "$driver" "$@"
}
expect 0 "ready" batch 5 by-hand 30 "$folder/answer"
expect 0 "  holds" batch 5 library 30 "$folder/answer"
expect 1 "DOES NOT HOLD" batch 6 library 30 "$folder/answer"
expect 1 "$folder/none: No such file" batch 5 library 30 "$folder/none"
expect 1 "/none/answer: No such file" batch 5 by-hand 30 /none/answer

# Programs that end when they should not, and threads that spin.
mkdir "$folder/bench"
stub() { # SHELL COMMANDS
  printf '#!/bin/bash\n%s\n' "$1" >"$folder/bench/turns_heat"
  chmod +x "$folder/bench/turns_heat"
}
stub 'exit 3'
expect 1 "turns: heat 100: turns_heat by-hand 100 ended with status 3" in_turns "$folder" --quick heat
stub 'echo ready; read -r go; exit 4'
expect 1 "turns_heat by-hand 100 ended with status 4" in_turns "$folder" --quick heat
stub 'echo ready; while read -r go; do echo 1; done; echo wrong; exit 1'
expect 1 "turns_heat by-hand 100 ended with status 1"$'\n'"wrong" in_turns "$folder" --quick heat
stub 'echo ready; read -r go; echo 1; while :; do :; done'
expect 1 "its threads do not go to sleep" in_turns "$folder" --quick heat

# Ended from outside it leaves nothing.
mkdir "$folder/tmp"
TMPDIR=$folder/tmp expect 124 "" timeout 2 python3 "$turns" "$build" --runs 99 laplace
[ -z "$(ls "$folder/tmp")" ] || { echo "it leaves files: $(ls "$folder/tmp")"; failures=$((failures + 1)); }

[ $failures -eq 0 ] && echo "turns are taken"

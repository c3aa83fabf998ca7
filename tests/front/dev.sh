#!/bin/bash
# dev.sh ROOT: ./dev explains itself and refuses what it does not know; nothing is built or installed here.
set -u
dev=$1/dev
failures=0

expect() { # STATUS WORDS COMMAND...: the status, and the words somewhere in the output
  local status=$1 words=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ $output != *"$words"* ]]; then
    echo "$* ended with $got and said: $output"
    echo "expected were $status and: $words"
    failures=$((failures + 1))
  fi
}

for command in setup build demo test bench format lint fuzz; do
  expect 0 "./dev $command" "$dev" --help
  expect 0 "./dev $command" "$dev" $command --help
done
expect 0 "two cores" "$dev"
expect 1 "there is no command 'tset'" "$dev" tset
expect 1 "there is no command 'setup_it'" "$dev" setup_it
expect 1 "does not know '--lnog'" "$dev" test --lnog
[ $failures -eq 0 ] && echo "every command explains itself"

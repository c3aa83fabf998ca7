#!/bin/bash
# stalls.sh RUN KIND RANKS PROGRAM stalls: rank 0 says what its tasks wait for while one of rank 1 sleeps, and then the run goes
# on.
set -u
found=$(bash "$@" 2>&1)
status=$?
[ $status = 77 ] && exit 77
words='rank 0: warning: graph "stalls" has waited for 1 s: task 1 (work) waits for resource "tile" from rank 1'
if [ $status != 0 ] || ! grep -qF "$words" <<<"$found"; then
  printf 'status %s, and in place of %s:\n%s\n' "$status" "$words" "$found"
  exit 1
fi

#!/bin/sh
# What a sample cannot take is named on stderr, with status 2. Usage: test_refuses.sh MESSAGE PROGRAM [arguments]
set -eu
expected=$1
shift
status=0
said=$("$@" 2>&1 >/dev/null) || status=$?
if [ "$status" -ne 2 ] || [ "$said" != "$expected" ]; then
  echo "FAILED: status $status and '$said', not 2 and '$expected'"
  exit 1
fi

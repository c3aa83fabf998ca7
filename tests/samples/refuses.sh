#!/bin/sh
# A sample that is given an option that it does not have says how it is used, and ends with status 2. Usage: refuses.sh NAME PROGRAM
set -eu
status=0
said=$("$2" --no-such-option 3 2>&1 >/dev/null) || status=$?
case $status$said in
2"usage: $1 "*) ;;
*)
  echo "FAILED: status $status and '$said', not 2 and 'usage: $1 ...'"
  exit 1
  ;;
esac

#!/bin/sh
# A sample that is given an option that it does not have says how it is used, and ends with status 2.
# Usage: refuses.sh NAME PROGRAM [OPTION...], in place of one that no sample has.
set -eu
status=0
name=$1 program=$2
shift 2
[ $# -gt 0 ] || set -- --no-such-option 3
said=$("$program" "$@" 2>&1 >/dev/null) || status=$?
case $status$said in
2"usage: $name "*) ;;
*)
  echo "FAILED: status $status and '$said', not 2 and 'usage: $name ...'"
  exit 1
  ;;
esac

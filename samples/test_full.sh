#!/bin/sh
# A sample whose standard output takes nothing ends with status 1 and says so, and so does the library of its report.
# Usage: test_full.sh SAMPLE [arguments]
set -eu
[ -w /dev/full ] || exit 77
status=0
said=$("$@" OP2_TIMING=text 2>&1 >/dev/full) || status=$?
case $status$said in
1*"the report cannot be written to the standard output: No space left on device"*) ;;
*)
  echo "FAILED: status $status and '$said'"
  exit 1
  ;;
esac
case $said in
*"${1##*/}: the standard output cannot be written: No space left on device"*) ;;
*)
  echo "FAILED: nothing of the sample's own output: '$said'"
  exit 1
  ;;
esac

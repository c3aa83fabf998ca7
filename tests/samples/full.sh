#!/bin/sh
# A program whose standard output takes nothing is told so by the library for its report. Usage: full.sh PROGRAM [arguments]
set -eu
[ -w /dev/full ] || exit 77
said=$("$@" OP2_TIMING=text 2>&1 >/dev/full) || true
case $said in
*"the report cannot be written to the standard output: No space left on device"*) ;;
*)
  echo "FAILED: '$said'"
  exit 1
  ;;
esac

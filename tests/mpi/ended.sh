#!/bin/sh
# ended.sh RUN KIND PROGRAM: an error after the program ended MPI itself is told as any other.
set -u
said=$("$1" "$2" 2 "$3" ended 2>&1)
status=$?
[ $status != 77 ] || exit 77
case $said in
*"op2jit: error: rank "[01]": OP_ERR_HANDLE: "*) [ $status -ne 0 ] && exit ;;
esac
echo "status $status, and said was: $said"
exit 1

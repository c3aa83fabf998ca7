#!/bin/sh
# flushes.sh HEADER TEST: the test knows of each call of the header whether it runs loops that wait.
known=$(sed -n '/never_wait\[\]/,/unlink(path)/p' "$2")
status=0
# shellcheck disable=SC2013 # words
for call in $(sed -n 's/^#define \(op_[a-z0-9_]*\) op2jit_.*/\1/p' "$1"); do
  if [ "$call" != op_exit ] && ! echo "$known" | grep -qw "$call"; then
    echo "$call: the test does not know whether it runs loops that wait"
    status=1
  fi
done
exit $status

#!/bin/sh
# A sample that shares its CPU with others says so below its times. Usage: test_busy.sh SAMPLE [arguments]
set -eu
[ -r /proc/self/schedstat ] && command -v taskset >/dev/null || exit 77
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
others=
for _ in 1 2 3; do
  taskset -c "$cpu" sh -c 'while :; do :; done' &
  others="$others $!"
done
# shellcheck disable=SC2086 # a list of numbers
trap 'kill $others' EXIT
said=$(taskset -c "$cpu" "$@")
case $said in
*"x
the machine was busy: times say little (this program waited"*) ;;
*)
  echo "FAILED: nothing below the table says that the machine was busy:"
  echo "$said"
  exit 1
  ;;
esac

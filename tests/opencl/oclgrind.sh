#!/bin/bash
# oclgrind.sh PROGRAM [ARGUMENT...]: the program in Oclgrind, a simulator of a device that finds races and bad addresses. It
# fails if there are any. Status 77 where Oclgrind is not installed.
set -u
library=/usr/lib/oclgrind/liboclgrind-rt.so
if [ ! -e "$library" ]; then
  echo "skipped: there is no Oclgrind ($library); install oclgrind, or ./dev test --with opencl"
  exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export OP2_OPENCL=$library OCLGRIND_DATA_RACES=1 OCLGRIND_LOG=$folder/findings
# It cannot run what its compiler makes of `restrict` in a function that is put in line.
export OCLGRIND_BUILD_OPTIONS=-Drestrict=
export OP2_BACKEND=opencl OP2_TUNE=off OP2_CACHE=off XDG_CACHE_HOME=$folder
"$@" || exit 1
if [ -s "$folder/findings" ]; then
  echo "Oclgrind found:"
  head -n 60 "$folder/findings"
  exit 1
fi

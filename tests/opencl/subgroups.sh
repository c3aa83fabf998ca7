#!/bin/bash
# subgroups.sh WRAPPER PROGRAM [ARGUMENT...]: the program in Oclgrind, on a device with sub-groups that WRAPPER puts in front of it. What
# sums together is one sub-group's: with sub-groups of one work-item nobody waits for another one, and nothing races.
# With 16, where each waits for its own, nothing races either; it does if they do not wait.
set -u
library=/usr/lib/oclgrind/liboclgrind-rt-icd.so
if [ ! -e "$library" ]; then
  echo "skipped: there is no Oclgrind ($library); install oclgrind, or ./dev test --with opencl"
  exit 77
fi
wrapper=$1 && shift
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
echo "$library" >"$folder/oclgrind.icd"
export OCL_ICD_VENDORS=$folder OP2_OPENCL=$wrapper OCLGRIND_DATA_RACES=1 OCLGRIND_LOG=$folder/findings
export OCLGRIND_BUILD_OPTIONS=-Drestrict= WRAPPER_INTEL=1 OP2_LOG=info,tune OP2_BACKEND=opencl OP2_TUNE=off OP2_CACHE=off XDG_CACHE_HOME=$folder
failed=0
# size, whether nobody waits, whether it races
for case in 1:1: 16:: 16:1:races; do
  IFS=: read -r size alone races <<<"$case"
  : >"$folder/findings"
  env WRAPPER_SUBGROUPS=$size WRAPPER_SIZED=1 ${alone:+WRAPPER_ALONE=1} OP2_VARIANT=warps/32 "$@" >"$folder/said" 2>&1
  status=$?
  grep -q joined "$folder/said" && { echo "whole groups add up in place of sub-groups of $size"; failed=1; }
  found=$(grep -c -i 'race' "$folder/findings")
  if [ -n "$races" ]; then
    [ "$found" -gt 0 ] || { echo "no race was found in sub-groups of $size that do not wait"; failed=1; }
  elif [ $status -ne 0 ] || [ -s "$folder/findings" ]; then
    echo "sub-groups of $size:"
    tail -n 20 "$folder/said"
    head -n 40 "$folder/findings"
    failed=1
  fi
done
exit $failed

#!/bin/bash
# missing.sh PROGRAM: what is said where OpenCL, a driver for it, or a device is not there. Needs no OpenCL.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# says "WORDS" VARIABLE=VALUE...: the program fails with these words.
says() {
  local words=$1
  shift
  if out=$(env "$@" OP2_BACKEND=opencl OP2_CACHE=off "$program" 2>&1) || ! grep -qF -- "$words" <<<"$out"; then
    printf 'expected "%s" with %s, but:\n%s\n' "$words" "$*" "$out"
    failed=1
  fi
}
program=$1

says 'the OpenCL library that OP2_OPENCL names cannot be opened' "OP2_OPENCL=$folder/none.so"
says 'has no entry clGetPlatformIDs: it is no OpenCL 1.2' OP2_OPENCL=libm.so.6
if ldconfig -p | grep -q 'libOpenCL\.so\.1 '; then
  says 'no driver for it (no platform)' "OCL_ICD_VENDORS=$folder/"
  echo "$folder/gone.so" >"$folder/gone.icd" # a driver that was removed, and one that is none
  says 'no driver for it (no platform)' "OCL_ICD_VENDORS=$folder/gone.icd"
  echo libm.so.6 >"$folder/none.icd"
  says 'no driver for it (no platform)' "OCL_ICD_VENDORS=$folder/none.icd"
  if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    says 'OpenCL has no such device; there are' OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd OP2_DEVICE=nothing:7
    # A device of CPUs is never taken by itself, and by a part of its platform's name.
    out=$(env -u OP2_BACKEND OP2_TIMING=text OP2_CACHE=off OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "$program" --n 8 2>&1)
    grep '^backend ' <<<"$out" | grep -qv opencl || {
      printf 'without OP2_BACKEND: %s\n' "$out"
      failed=1
    }
    out=$(env OP2_TIMING=text OP2_LOG=tune OP2_VARIANT=sorted OP2_BACKEND=opencl OP2_DEVICE=portable: OP2_TUNE=off OP2_CACHE=off OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd \
      "$program" --n 8 2>&1)
    grep -q '^backend opencl' <<<"$out" || {
      printf 'with OP2_DEVICE=portable: %s\n' "$out"
      failed=1
    }
    grep -q '^backend opencl, [0-9]* thread' <<<"$out" && {
      printf 'the report does not name the device: %s\n' "$out"
      failed=1
    }
    grep -q 'OP2_VARIANT asks for .*/sorted; what of it fits this loop is ' <<<"$out" || {
      printf 'a word that does not fit is left out without a line: %s\n' "$out"
      failed=1
    }
  fi
fi
exit $failed

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
  if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    says 'OpenCL has no such device; there are' OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd OP2_DEVICE=nothing:7
  fi
fi
exit $failed

#!/bin/bash
# faults.sh PROGRAM WRAPPER: a library of OpenCL, a device or a driver that is not as it should be. PROGRAM is airfoil, WRAPPER
# the library in which calls fail. Run by run.sh, on PoCL.
set -u
program=$1
export OP2_OPENCL=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

airfoil() { env "$@" "$program" --cells 600 --iters 1 2>&1; }

complain() { # OUTPUT WORDS...
  local out=$1
  shift
  printf 'expected "%s", but:\n%s\n' "$*" "$out"
  failed=1
}

# says "WORDS" VARIABLE=VALUE...: the program fails with these words.
says() {
  local words=$1 out
  shift
  if out=$(airfoil OP2_CACHE=off "$@") || ! grep -qF -- "$words" <<<"$out"; then
    complain "$out" "$words" with "$@"
  fi
}

# runs VARIABLE=VALUE...: the program is right.
runs() {
  local out
  if ! out=$(airfoil "$@") || ! grep -q 'airfoil: PASSED' <<<"$out"; then
    complain "$out" a right result with "$@"
  fi
}

runs OP2_CACHE=off
says 'asking OpenCL for its platforms failed: CL_OUT_OF_HOST_MEMORY (-6)' WRAPPER_FAIL=clGetPlatformIDs:1:-6
says 'but none has a device' WRAPPER_DEVICES=0
says 'starting OpenCL device 0:0' WRAPPER_FAIL=clCreateContext:1:-2
says 'argument 1 is double, which OpenCL device 0:0' WRAPPER_WITHOUT=cl_khr_fp64
says 'atomic operations on values of 8 bytes, which this device lacks' WRAPPER_WITHOUT=cl_khr_int64_base_atomics \
  OP2_VARIANT=atomics/64
runs OP2_CACHE=off WRAPPER_WITHOUT=cl_khr_int64_base_atomics
says 'bytes of shared memory, OpenCL device 0:0 has 1024' WRAPPER_LOCAL=1024 OP2_VARIANT=staged/256
says 'groups of so many work-items, which this device cannot run' WRAPPER_GROUP=64 OP2_VARIANT=atomics/128
says 'in groups of 32 work-items at most, not of 64' WRAPPER_KERNEL_GROUP=32 OP2_VARIANT=atomics/64
says 'OP_ERR_MEMORY' WRAPPER_FAIL=clCreateBuffer:3:-4
says 'bytes free of' WRAPPER_FAIL=clCreateBuffer:3:-4
says 'CL_OUT_OF_RESOURCES (-5)' WRAPPER_FAIL=clEnqueueNDRangeKernel:2:-5

# A device that was there in the run before.
runs OP2_CACHE="$folder/gone.db" OP2_DEVICE=0:0
if out=$(airfoil OP2_CACHE="$folder/gone.db" OP2_DEVICE=0:0 WRAPPER_DEVICES=0) || ! grep -qF 'none has a device' <<<"$out"; then
  complain "$out" 'none has a device' in the second run
fi

# A driver that does not take a binary any more: compiled again, and one line says so. Then it is in the cache again.
runs OP2_CACHE="$folder/kernels.db"
out=$(airfoil OP2_CACHE="$folder/kernels.db" WRAPPER_FAIL=clCreateProgramWithBinary:1:-42)
[ "$(grep -c 'cached binary is of no use and is made anew' <<<"$out")" -eq 1 ] || complain "$out" one line on the rejected binary
grep -q 'airfoil: PASSED' <<<"$out" || complain "$out" a right result behind a rejected binary
out=$(airfoil OP2_CACHE="$folder/kernels.db" OP2_JIT=load)
grep -q 'airfoil: PASSED' <<<"$out" || complain "$out" everything in the cache
# Another version of the driver has binaries of its own.
if out=$(airfoil OP2_CACHE="$folder/kernels.db" OP2_JIT=load WRAPPER_VERSION=99.9) || ! grep -qF 'is not in the cache' <<<"$out"; then
  complain "$out" 'is not in the cache' with another version of the driver
fi
exit $failed

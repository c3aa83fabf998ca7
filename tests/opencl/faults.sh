#!/bin/bash
# faults.sh PROGRAM WRAPPER OP2JIT FLOATS: a library of OpenCL, a device or a driver that is not as it should be. PROGRAM is
# airfoil, WRAPPER the library in which calls fail, FLOATS floats.c. Run by run.sh, on PoCL.
set -u
program=$1
export OP2_OPENCL=$2
op2jit=$3
floats=$4
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
# Without fp64 loops of float run, also with C's functions of double; those of double are refused by name.
says 'argument 1 is double, which OpenCL device 0:0' WRAPPER_WITHOUT=cl_khr_fp64
out=$(WRAPPER_WITHOUT=cl_khr_fp64 OP2_CACHE=off "$floats" 2>&1) || complain "$out" status 0 of floats without fp64
grep -q 'floats: right' <<<"$out" || complain "$out" floats without fp64
for what in double kernel; do
  out=$(WRAPPER_WITHOUT=cl_khr_fp64 OP2_CACHE=off "$floats" $what 2>&1) && complain "$out" an error for $what
  grep -q 'floats: right' <<<"$out" || complain "$out" floats before $what
done
grep -qF 'loop inside: its kernel has values of type double' <<<"$out" || complain "$out" the type of a value
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
# A binary that the driver takes and does not build is as good as none.
out=$(airfoil OP2_CACHE="$folder/kernels.db" WRAPPER_FAIL=clBuildProgram:1:-11)
[ "$(grep -c 'cached binary is of no use and is made anew' <<<"$out")" -eq 1 ] || complain "$out" one line on the binary that is not built
# Another version of the driver has binaries of its own, and the cache knows why.
if out=$(airfoil OP2_CACHE="$folder/kernels.db" OP2_JIT=load WRAPPER_VERSION=99.9) || ! grep -qF 'is not in the cache' <<<"$out"; then
  complain "$out" 'is not in the cache' with another version of the driver
fi
runs OP2_CACHE="$folder/kernels.db" WRAPPER_VERSION=99.9
out=$(OP2_CACHE="$folder/kernels.db" "$op2jit" cache why res_calc)
head -n 3 <<<"$out" | tr -s ' \n' ' ' | grep -q ': driver [^ ]* -> 99\.9 ' || complain "$out" the driver and nothing else as the reason
for column in platform device driver; do
  OP2_CACHE="$folder/kernels.db" "$op2jit" cache show res_calc | grep -q "^ *$column" || complain "$out" a column $column
done

# Sub-groups are used where a device has them, whatever their width and however its driver fills them; only there. They sum by
# themselves what goes through maps, if they are whole numbers of what sums together; else their group waits.
for case in 1: 7: 16:1 64:; do
  IFS=: read -r width sized <<<"$case"
  out=$(airfoil OP2_CACHE=off "WRAPPER_SUBGROUPS=$width" ${sized:+WRAPPER_SIZED=1} OP2_VARIANT=warps/128)
  grep -q 'airfoil: PASSED' <<<"$out" || complain "$out" a right result by sub-groups of "$width"
done
says 'get_sub_group_id' WRAPPER_SUBGROUPS=0

# Loops are given without waiting: who waits is who hands a result to the host. The tuner asks events for times, and only it.
# counts WORDS VARIABLE=VALUE...: kernels, waits and times of a run, compared in a shell's words.
counts() {
  local words=$1 out kernels waits times
  shift
  out=$(airfoil OP2_CACHE=off WRAPPER_COUNT=1 "$@")
  read -r kernels waits times < <(sed -n 's/^wrapper: \(.*\) kernels, \(.*\) waits, \(.*\) times$/\1 \2 \3/p' <<<"$out")
  if [ -z "${times-}" ] || ! (($(sed "s/kernels/$kernels/;s/waits/$waits/;s/times/$times/" <<<"$words"))); then
    complain "$out" "$words"
  fi
}
counts '2 * waits < kernels'
counts 'times == 0'
counts 'times > 0' OP2_TUNE=force

# The kind of a device decides on the default; info says what it can do.
for pair in 2:blocks/256 4:warps/128/vectors/joined; do
  out=$(airfoil OP2_CACHE=off "WRAPPER_TYPE=${pair%:*}" OP2_TIMING=text)
  grep '^ *res_calc' <<<"$out" | grep -qF "${pair#*:}" || complain "$out" "${pair#*:}" by default
done
out=$("$op2jit" info)
grep -q '0:0 .*CPU.*bytes of local memory' <<<"$(tr -d '\n' <<<"$out")" || complain "$out" the device
out=$(WRAPPER_WITHOUT='cl_khr_fp64 cl_khr_int64_base_atomics' WRAPPER_SUBGROUPS=8 "$op2jit" info | tr -s ' \n' ' ')
grep -qF 'no fp64, no 64-bit atomics, sub-groups' <<<"$out" || complain "$out" what the device lacks
exit $failed

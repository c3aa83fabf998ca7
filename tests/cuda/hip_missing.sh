#!/bin/bash
# hip_missing.sh PROGRAM: what is said where HIP, its compiler or a GPU is not there. On the stand-in, which the
# environment names.
set -u
program=$1
failed=0

# says "WORDS" VARIABLE=VALUE...: the program fails with these words.
says() {
  local words=$1 out
  shift
  if out=$(env "$@" "$program" --cells 600 --iters 1 2>&1) || ! grep -qF -- "$words" <<<"$out"; then
    printf 'expected "%s" with %s, but:\n%s\n' "$words" "$*" "$out"
    failed=1
  fi
}

"$program" --cells 600 --iters 1 >/dev/null || failed=1
says 'the HIP library that OP2_HIP names cannot be opened' OP2_HIP=/nothing.so
says 'has no entry hipInit: it is no HIP library' OP2_HIP=libm.so.6
says 'the HIPRTC that OP2_HIPRTC names cannot be opened' OP2_HIPRTC=/nothing.so
says 'has no entry hiprtcVersion: it is no HIPRTC' OP2_HIPRTC=libm.so.6
says 'sees no GPU (hipErrorNoDevice)' STANDIN_DEVICES=0
says 'OP2_DEVICE=3: this machine has 2 GPUs, numbered from 0' STANDIN_DEVICES=2 OP2_DEVICE=3
says 'OP2_DEVICE=first: expected a whole number' OP2_DEVICE=first
says 'out of memory (hipErrorOutOfMemory, 2)' STANDIN_FAIL=cuMemHostAlloc:1:2
says 'bytes free of 65536' STANDIN_MEMORY=65536
says 'an illegal memory access was encountered (hipErrorIllegalAddress, 700)' STANDIN_FAIL=cuStreamSynchronize:1:700
says 'blocks that are no multiple of its wavefronts' OP2_VARIANT=atomics/32
exit $failed

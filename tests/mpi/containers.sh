#!/bin/sh
# containers.sh RUN KIND PROGRAM: two ranks with a quota of two CPUs each, as in two containers, have two threads each; in one container with
# that quota, one. What a container shows of its quota is put in place by a mount that only its processes see: needs root.
set -u
run=$1 kind=$2 program=$3
OP2_CACHE=off
export OP2_CACHE

inside() { # command: with the quota
  unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo "200000 100000" >/sys/fs/cgroup/cpu.max && exec "$@"' sh "$@"
}

if [ "${1:-}" = inside ]; then
  shift
  inside "$@"
  exit
fi
if [ "$(nproc)" -lt 4 ] || ! grep -q '^0::' /proc/self/cgroup || ! inside true 2>/dev/null; then
  echo "skipped: needs four CPUs, control groups of version 2, and the right to mount"
  exit 77
fi
"$run" "$kind" 2 "$0" inside "$program" 2 0 2 || exit
inside "$run" "$kind" 2 "$program" 2 0 1

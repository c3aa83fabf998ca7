#!/bin/bash
# share.sh RUN KIND PROGRAM MPI_PLUGIN COMPILER: compiles on one rank only, with databases in different states, and without a compiler
# on some ranks. COMPILER is the compiler plugin, or with OP2_BACKEND=cuda NVRTC.
set -u
run=$1 kind=$2 program=$3 mpi_plugin=$4 compiler=$(realpath "$5")
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset OP2_CACHE

expect() { # LABEL RANKS COMPILES LEADERS
  local label=$1
  shift
  if "$run" "$kind" "$1" "$work/program" "$work" "$@"; then
    echo "$label: as expected"
  else
    echo "$label: failed"
    exit 1
  fi
}

its_compiler() { # RANK
  if [ "$OP2_BACKEND" = cuda ]; then echo "$work/nvrtc.$1"; else echo "$work/plugins.$1/op2jit-clang.so"; fi
}

# Away from the build tree, so that each rank has only the plugins that it is given.
cp "$program" "$work/program" || exit 1
for rank in 0 1 2 3; do
  mkdir "$work/plugins.$rank"
  cp "$mpi_plugin" "$work/plugins.$rank"
  ln -s "$compiler" "$(its_compiler $rank)"
done
[ "$OP2_BACKEND" != cuda ] || ln -s "$compiler" "$work/nvrtc"

expect "no database" 4 "$COMPILES" 0
cp "$work/cache.0" "$work/full"
expect "a full database on the leader" 4 0 0
rm "$work"/cache.*
cp "$work/full" "$work/elsewhere"
expect "none again" 3 "$COMPILES" 0
rm "$work"/cache.*
if [ "$OP2_BACKEND" != cuda ]; then
  # The ranks that have no database take the leader's word for what is in it.
  OP2_VARIANT=strip8 expect "a shape that nobody would guess" 3 "$COMPILES" 0
  OP2_JIT=load expect "the shape that the database has" 3 0 0
  rm "$work"/cache.*
fi
rm "$(its_compiler 0)"
if [ "$OP2_BACKEND" = cuda ]; then
  # With code for messages between the ranks, which a second run takes from the database like the rest.
  ln -s "$compiler" "$(its_compiler 0)"
  cp "$work/full" "$work/cache.0"
  OP2_JIT=load expect "only what the database has" 2 0 0
  rm "$work"/cache.*
  for rank in 0 1 2 3; do ln -s $((rank < 2 ? 90 : 80)) "$work/capability.$rank"; done
  expect "two kinds of GPU" 4 "$COMPILES" 02
  rm "$work"/cache.* "$work"/capability.* "$(its_compiler 0)"
fi
expect "rank 0 without a compiler" 4 "$COMPILES" 1
rm "$work"/cache.*
rm "$(its_compiler 1)" "$(its_compiler 2)" "$(its_compiler 3)"
if out=$("$run" "$kind" 4 "$work/program" "$work" 4 0 0 2>&1); then
  echo "without any compiler it should not have run"
  exit 1
fi
count=$(grep -c 'op2jit: error' <<<"$out")
[ "$count" -eq 1 ] || {
  echo "without any compiler: $count messages instead of one:"
  echo "$out"
  exit 1
}
grep -qE "$WITHOUT" <<<"$out" || {
  echo "the message does not say so: $out"
  exit 1
}
echo "without any compiler: one message"

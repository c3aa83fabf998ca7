#!/bin/bash
# derive.sh RUN KIND PROGRAM MPI_PLUGIN COMPILER: derivatives where one rank alone has a compiler, and then from its database.
# PROGRAM is the test of random programs that are differentiated.
set -u
run=$1 kind=$2
command -v "mpirun.$kind" >/dev/null || {
  echo "skipped: there is no mpirun.$kind"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Away from the build tree, so that each rank has only the plugins that it is given.
cp "$3" "$work/program" || exit 1
mkdir "$work/plugins.0" "$work/plugins.1"
for rank in 0 1; do cp "$4" "$work/plugins.$rank"; done
ln -s "$(realpath "$5")" "$work/plugins.0/op2jit-clang.so"
cat >"$work/rank" <<'END'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
folder=$(dirname "$0")
OP2_PLUGINS=$folder/plugins.$rank OP2_CACHE=$folder/cache.$rank exec "$folder/program" 1 1 made
END
chmod +x "$work/rank"
"$run" "$kind" 2 "$work/rank" || exit 1
OP2_JIT=load "$run" "$kind" 2 "$work/rank" || exit 1
[ ! -e "$work/cache.1" ] || {
  echo "the rank that does not lead has a database"
  exit 1
}

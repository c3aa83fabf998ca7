#!/bin/sh
# Each sample compiles by a command of samples/README.md, one of which stands for all that have none of their own, and passes.
# Usage: commands.sh SAMPLES HEADERS LIBRARY "SAMPLE [arguments]"...: folders, of the library as it was built
set -eu
samples=$1 headers=$2 library=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$samples" "$folder/samples"
cat >"$folder/op2jit.pc" <<PC
Name: op2jit
Description: as it was built
Version: 0
Cflags: -I$headers
Libs: -L$library -lop2jit
PC
PKG_CONFIG_PATH=$folder
LD_LIBRARY_PATH=$library
export PKG_CONFIG_PATH LD_LIBRARY_PATH
cd "$folder/samples"
failed=0
command=$(grep '^    cc transport/' README.md)
# shellcheck disable=SC2016 # for the command
petsc=$(grep -o '\$(pkg-config --cflags --libs PETSc[^)]*)' README.md)

for words in "$@"; do
  name=${words%% *}
  rm -f "$name/$name"
  this=$(echo "$command" | sed "s|transport|$name|g") runs=yes
  case $name in
  wall) this=$(grep "^    cc $name/" README.md) runs=no ;; # on no native backend
  poisson | implicit) runs=no ;;                          # tests/petsc runs them
  flow3d) runs=no ;;                                      # tests/io makes meshes for it
  bratu | elasticity) this="$this $petsc" runs=no ;;
  esac
  # shellcheck disable=SC2086 # arguments
  if ! sh -ec "$this" ||
    ! { [ $runs = no ] || "./$name/$name" ${words#"$name"} OP2_BACKEND=native OP2_CACHE=off >said 2>&1; }; then
    echo "FAILED: $name, by $this"
    [ ! -e said ] || cat said
    failed=1
  fi
  rm -f said
done
for folder_of in */; do
  ls "$folder_of"*.c >/dev/null 2>&1 || continue # in Python alone
  case $folder_of in
  wall/) pkg-config --exists nlopt || continue ;;
  bratu/ | elasticity/) pkg-config --exists PETSc ompi-c || continue ;;
  esac
  case " $* " in *" ${folder_of%/} "* | "${folder_of%/} "*) ;; *) echo "FAILED: ${folder_of%/} was not compiled" && failed=1 ;; esac
done
[ $failed = 0 ] && echo "commands: PASSED"
exit $failed

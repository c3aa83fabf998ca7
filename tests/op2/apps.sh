#!/bin/bash
# apps.sh CHECKOUT [CELLS [COMPILER...]]: builds the applications and functional tests of a checkout of OP2 as they are, with each compiler
# (g++ clang++), and runs them on 1 and 2 threads and, those that deal their mesh out, on 2 ranks; idx of the functional tests on 4, since
# what it says of numbers does not hold in OP2 on 2. A table says of each run what its own check said; where that needs the published mesh
# (CELLS 720000; 20000 else), whether all runs end alike. Then, of each program, its loops: the form that they ran in on 2 threads, the
# calls, milliseconds in each run, and whether they ran by their text, or why not: nobody tells op2jit a flag. At the end, how many loops
# have their text, by compiler. For people: no suite runs it.
# jac1's longint has a billion nodes: it is run with 65025.
#   BUILD  the build of op2jit that is used [build beside this script's tree]
#   ONLY   programs whose names match this pattern
#   MGCFD  a checkout of MG-CFD, which is compiled, and whose source is read
#   MGDATA a folder with an input.dat for it, with which it runs
# shellcheck disable=SC2206,SC2015,SC2053 # lists of flags, and a pattern
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] && [ -d "$1/apps/c" ] || {
  echo "usage: apps.sh CHECKOUT [CELLS [COMPILER...]], a folder with OP2's apps/c" >&2
  exit 2
}
checkout=$(cd "$1" && pwd) cells=${2:-20000} build=${BUILD:-$here/build}
[ $# -gt 2 ] && compilers=("${@:3}") || compilers=(g++ clang++)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$work/plugins OP2_CACHE=off OP2_LOG=error
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir "$work/plugins" "$work/meshes"
find "$build" -name 'op2jit-*.so' -exec ln -s {} "$work/plugins/" \;
hdf5=$(pkg-config --cflags hdf5) mpi=$(mpicxx --showme:compile) mpi_libs=$(mpicxx --showme:link)
hdf5_mpi=$(pkg-config --cflags hdf5-openmpi) hdf5_mpi_libs=$(pkg-config --libs hdf5-openmpi)
failures=0

compile() { # COMPILER SOURCE PROGRAM FLAG...
  local compiler=$1 source=$2 program=$3
  local -a flags=(-g1 -std=c++17 -O2 -w "${@:4}" -I"$here/include" -I"$here/include/op2" -I"${source%/*}")
  local libs="-L$build -lop2jit"
  case $source in
  *hdf5*mpi.cpp) flags+=($hdf5_mpi $mpi) libs+=" $hdf5_mpi_libs $mpi_libs" ;;
  *) if grep -q 'hdf5\.h>\|"hdf5.h"' "$source"; then flags+=($hdf5) libs+=" $(pkg-config --libs hdf5)"; fi
    if [[ " ${flags[*]} " == *USE_MPI* ]] || grep -q 'mpi\.h' "$source"; then flags+=($mpi) libs+=" $mpi_libs"; fi ;;
  esac
  # shellcheck disable=SC2086 # lists of flags
  "$compiler" "${flags[@]}" "$source" -o "$program" $libs >"$work/said" 2>&1
}

# The words by which runs of one program are compared, and what its own check said.
numbers() { grep -aE '^ *[0-9]+ +[0-9.]+e|rms|iter|min:|^u_|sum|max|[Rr]eduction|result' "$1" | tail -n 1 | sed 's/ wall.*//'; }
verdict() { # STATUS FILE
  if [ "$1" -ne 0 ]; then
    echo "status $1: $(grep -m 1 -iE 'error|signal' "$2" | cut -c 1-80)"
  elif grep -qi 'check PASSED\|considered PASSED\|Validation passed' "$2"; then
    echo "PASSED"
  elif grep -q 'ERROR\|check FAILED' "$2" || { [ "$cells" = 720000 ] && grep -q 'considered FAILED' "$2"; }; then
    echo "FAILED"
  else
    echo "ends well"
  fi
}

# The times of a run's loops, from its report.
note_loops() { # LABEL FILE
  [ -f "$2" ] || return 0
  sed -n 's/^,\?{"name":"\([^"]*\)","calls":\([0-9]*\),"seconds":\([-+.0-9e]*\),.*"variant":"\([^"]*\)".*/\1 \2 \3 \4/p' "$2" |
    sed "s|^|$1 |" >>"$work/loops"
}

# Loops that the run's log gives a reason for have no text.
note_forms() { # LABEL FILE
  local compiler=${1%%,*} loop why
  while read -r loop; do
    why=$(grep -m 1 "jit: loop $loop runs as the program's compiler made it: " "$2" | sed "s/.*compiler made it: //")
    printf '%s\t%s\t%s\t%s\n' "$compiler" "$loop" "${why:+range}" "$why"
  done < <(awk -v run="$1" '$1 == run { print $2 }' "$work/loops") >>"$work/forms"
}

print_forms() { # of one program, and added to those of all
  [ -f "$work/forms" ] || return 0
  awk -F '\t' '{ loop = $2 " (" $1 ")" } $3 == "" { with[$1] = with[$1] " " $2 } $3 != "" { print "    " loop ": range: " $4 }
    END { for (c in with) print "    by their text (" c "):" with[c] }' "$work/forms"
  cat "$work/forms" >>"$work/all"
  rm "$work/forms"
}

print_share() {
  [ -f "$work/all" ] || return 0
  awk -F '\t' '{ all[$1]++; with[$1] += $3 == "" } END { for (c in all) printf "%s: %d of %d loops have their text, %.1f %%\n", c, with[c],
    all[c], 100 * with[c] / all[c] }' "$work/all"
}

print_loops() {
  [ -f "$work/loops" ] || return 0
  awk '{ if (!($1 in run)) { run[$1] = ++runs; label[runs] = $1 }
         if (!($2 in loop)) { loop[$2] = ++loops; name[loops] = $2 }
         calls[$2] = $3; time[$2, $1] += $4 * 1000; if ($1 ~ /,2$/ || !($2 in form)) form[$2] = $5 }
       END { printf "    %-24s %7s  %-26s", "loop", "calls", "form on 2 threads"
         for (r = 1; r <= runs; r++) printf " %13s", label[r]
         print " ms"
         for (l = 1; l <= loops; l++) { n = name[l]
           printf "    %-24s %7d  %-26s", n, calls[n], form[n]
           for (r = 1; r <= runs; r++) printf " %13.1f", time[n, label[r]]
           print "" } }' "$work/loops"
  rm -f "$work/loops"
}

run() { # LABEL PROGRAM MESH-FOLDER WORD...: in a folder of its own
  local label=$1 program=$2 meshes=$3 status said numbers name
  local folder=$work/run
  shift 3
  rm -rf "$folder"
  mkdir "$folder"
  find "$work/meshes" "$meshes" -maxdepth 1 -type f -exec ln -sf {} "$folder/" \;
  local start=$SECONDS
  local log=error
  [[ $label != *,2 ]] || log=info,jit
  (cd "$folder" && OP2_LOG=$log OP2_TIMING=json:report.json timeout 900 "$@" "$program" >"$work/out" 2>"$work/err")
  status=$?
  [ "$status" -eq 0 ] || cat "$work/err" >>"$work/out"
  note_loops "${label##* }" "$folder/report.json"
  [ "$log" = error ] || [ "$status" -ne 0 ] || note_forms "${label##* }" "$work/err"
  said=$(verdict "$status" "$work/out")
  numbers=$(numbers "$work/out")
  name=${label% *}
  [ -f "$work/first.$name" ] || echo "$numbers" >"$work/first.$name"
  [[ $said == PASSED || $said == "ends well" ]] || failures=$((failures + 1))
  printf '%-34s %-14s %4d s  %-10s %s\n' "$name" "${label##* }" $((SECONDS - start)) "$said" "$numbers"
}

prepare() { # COMPILER: meshes in HDF5, made by OP2's own converters
  local precision
  mkdir -p "$work/dp" "$work/sp"
  for precision in dp sp; do
    compile "$1" "$checkout/apps/c/airfoil/airfoil_hdf5/$precision/convert_mesh.cpp" "$work/convert" &&
      (cd "$work/meshes" && OP2_THREADS=1 "$work/convert" >"$work/said" 2>&1 && mv new_grid_out.h5 "$work/$precision/new_grid.h5") ||
      echo "no new_grid.h5 ($precision): $(grep -m 1 -i error "$work/said")"
  done
  compile "$1" "$checkout/apps/c/aero/aero_hdf5/write_hdf5.cpp" "$work/convert" &&
    (cd "$work/meshes" && OP2_THREADS=1 "$work/convert" >"$work/said" 2>&1 && mv FE_grid_out.h5 FE_grid.h5) ||
    echo "no FE_grid.h5: $(grep -m 1 -i error "$work/said")"
  rm -f "$work/meshes/test.h5"
}

# aero's mesh is airfoil's without the first row's lower half, of which the other half is the copy.
finite_element_mesh() {
  awk 'NR == 1 { nodes = $1; cells = $2; s = nodes - cells - 1; wide = int((s + sqrt(s * s - 4 * cells)) / 2 + 0.5)
         if (wide % 3) wide = s - wide
         high = s - wide; I = wide / 3; print nodes - I - 1, cells, wide + 2 * high; next }
       NR <= nodes + 1 && NR - 2 > I { print }
       function at(i, j, k) { k = i + j * (wide + 1) - I - 1; return k >= 0 ? k : 2 * I - 1 - i + 0 }
       END { for (j = 0; j < high; j++) for (i = 0; i < wide; i++) print at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)
         for (j = 0; j <= high; j++) for (i = 0; i <= wide; i++)
           if (i + j * (wide + 1) > I && (i == 0 || i == wide || j == high)) print at(i, j) }' "$1"
}

# A copy of jac1 with long numbers, of fewer nodes.
smaller() { # SOURCE
  mkdir -p "$work/longint"
  cp "${1%/*}"/* "$work/longint/"
  sed -i 's/^\(const idx_g_t NN = \).*/\1256;/' "$work/longint/${1##*/}"
  echo "$work/longint/${1##*/}"
}

programs() { (cd "$checkout" && find apps/c tests/functional -name '*.cpp' | grep -v 'compare\|_orig\|convert\|write_hdf5' | sort); }

"$build/samples/airfoil" --cells "$cells" --iters 1 --write-mesh "$work/meshes/new_grid.dat" >/dev/null 2>&1 ||
  [ -s "$work/meshes/new_grid.dat" ] || echo "the airfoil sample wrote no mesh"
finite_element_mesh "$work/meshes/new_grid.dat" >"$work/meshes/FE_grid.dat"
prepare "${compilers[0]}"
for source in $(programs); do
  name=${source#apps/c/} name=${name#tests/functional/} name=${name%.cpp} name=${name//\//.}
  [[ $name == ${ONLY:-*} ]] || continue
  folder=$work/dp
  [[ $source == */sp/* ]] && folder=$work/sp
  for compiler in "${compilers[@]}"; do
    flags=()
    [[ $source == tests/functional/* ]] && grep -q USE_MPI "$checkout/$source" && flags=(-DUSE_MPI)
    text=$checkout/$source
    [[ $source != *longint* ]] || text=$(smaller "$text")
    compile "$compiler" "$text" "$work/program" ${flags[@]+"${flags[@]}"} || {
      echo "$name $compiler does not compile: $(grep -m 1 error "$work/said")"
      failures=$((failures + 1))
      continue
    }
    launcher=(mpirun --oversubscribe --bind-to none -x OP2_THREADS -x OP2_TIMING)
    ranks=2
    [[ $source != *idx_tests* ]] || ranks=4
    once=()
    [[ ${flags[*]:-} == *USE_MPI* ]] && once=("${launcher[@]}" -n 1)
    OP2_THREADS=1 run "$name $compiler,1" "$work/program" "$folder" ${once[@]+"${once[@]}"}
    OP2_THREADS=2 run "$name $compiler,2" "$work/program" "$folder" ${once[@]+"${once[@]}"}
    case $source in
    *_mpi.cpp | *hdf5* | *step[67]* | *final* | */min/* | tests/functional/*)
      [ "${#flags[@]}" -eq 0 ] && [[ $source == tests/* ]] ||
        OP2_THREADS=1 run "$name $compiler,ranks" "$work/program" "$folder" "${launcher[@]}" -n "$ranks" ;;
    esac
  done
  print_loops
  print_forms
done
if [ -n "${MGCFD:-}" ]; then
  for compiler in "${compilers[@]}"; do
    said="compiles"
    compile "$compiler" "$MGCFD/euler3d.cpp" "$work/program" || {
      said="does not compile: $(grep -m 1 error "$work/said")"
      failures=$((failures + 1))
    }
    printf '%-34s %-14s %s\n' MG-CFD "$compiler" "$said"
    if [ -n "${MGDATA:-}" ] && [ "$said" = compiles ]; then
      mkdir -p "$work/mg"
      find "$MGDATA" -maxdepth 1 -type f \( -name '*.dat' -o -name '*.h5' \) -exec cp {} "$work/mg/" \;
      printf '#!/bin/sh\nexec "%s" -i input.dat -g 3\n' "$work/program" >"$work/mg.sh"
      chmod +x "$work/mg.sh"
      OP2_THREADS=2 run "MG-CFD $compiler,2" "$work/mg.sh" "$work/mg"
    fi
  done
  # shellcheck disable=SC2086 # lists of flags
  "$build/runtime/cli/op2jit" texts --headers "$here/include/op2" "$MGCFD/euler3d.cpp" -- $hdf5 $mpi | sed 's|^.*/|    |'
  print_loops
  print_forms
fi
print_share
echo "$failures failed"
exit $((failures > 0))

#!/bin/bash
# matrix.sh ROOT [all]: OP2's headers, each alone and as programs use them, under the standards from C++11 to C++20, with g++ and clang++, and
# in C what is for C: without a warning. What cannot be a kernel is refused in words. Unless all is asked for, each standard is with one
# compiler, and clang++ gets the headers together.
set -u
root=$1 all=${2:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
flags=(-fsyntax-only -Wall -Wextra -pedantic -Werror -I"$root/include" -I"$root/include/op2")
mpi=
command -v mpicxx >/dev/null && mpi=$(mpicxx -show 2>/dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
failures=0 compiled=0

try() { # COMPILER STANDARD FILE FLAG...
  local compiler=$1 standard=$2 file=$3
  shift 3
  "$compiler" -std="$standard" "${flags[@]}" "$@" "$file" && compiled=$((compiled + 1)) && return
  echo "not compiled: $compiler -std=$standard $file"
  failures=$((failures + 1))
}

refuse() { # COMPILER WORDS KERNEL: a program whose loop has this kernel does not compile, and is told so in these words; "": it compiles
  cat >"$work/refused.cpp" <<EOF
#include "op_seq.h"
static void plain(double *) {}
static int returns(double *) { return 1; }
void run(op_set set, op_dat x);
void run(op_set set, op_dat x) {
  void (*chosen)(double *) = plain;
  auto lambda = [](double *) {};
  (void)chosen, (void)lambda, (void)returns;
  op_par_loop($3, "name", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}
EOF
  local said status
  said=$("$1" -std=c++17 "${flags[@]}" "$work/refused.cpp" 2>&1)
  status=$?
  if [ -z "$2" ]; then
    [ "$status" -eq 0 ] && return
  else
    [ "$status" -ne 0 ] && grep -q "$2" <<<"$said" && return
  fi
  printf '%s with the kernel %s: expected "%s"\n%s\n' "$1" "$3" "$2" "$said"
  failures=$((failures + 1))
}

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || {
    echo "left out: there is no $compiler"
    continue
  }
  : >"$work/together.cpp"
  for header in op_seq op_lib_cpp op_lib_c op_lib_core op_hdf5 op_profile op_util op_rt_support; do
    echo "#include \"$header.h\"" | tee -a "$work/together.cpp" >"$work/$header.cpp"
    [ "$compiler$all" = clang++ ] || try "$compiler" c++11 "$work/$header.cpp"
  done
  printf '%s\n' '#define OP_MPI_CORE_NOMPI' '#include "op_seq.h"' '#include "op_mpi_core.h"' 'part owners;' >>"$work/together.cpp"
  try "$compiler" c++11 "$work/together.cpp"
  for standard in c++11 c++14 c++17 c++20; do
    case $compiler$all$standard in
    clang++c++11 | clang++c++17 | g++c++14 | g++c++20) continue ;;
    *c++11 | *c++20) try "$compiler" "$standard" "$root/tests/op2/units.cpp" ;;
    *) try "$compiler" "$standard" "$root/tests/op2/kinds.cpp" ;;
    esac
  done
  refuse "$compiler" "" plain
  refuse "$compiler" "a kernel of op_par_loop is a function with a name" lambda
  refuse "$compiler" "a kernel of op_par_loop is a function with a name" returns
  refuse "$compiler" 'constant expression\|the address of a function' chosen
  if [ -n "$mpi" ]; then
    printf '%s\n' '#include "op_lib_mpi.h"' '#include "op_seq.h"' 'MPI_Comm comm;' >"$work/mpi.cpp"
    # Included by programs for its types, alone and behind others.
    printf '%s\n' '#include "op_mpi_core.h"' '#include "op_seq.h"' 'halo_list list;' 'op_mpi_buffer buffer;' >"$work/core.cpp"
    # shellcheck disable=SC2086 # a list of flags
    try "$compiler" c++11 "$work/mpi.cpp" $mpi
    # shellcheck disable=SC2086 # a list of flags
    try "$compiler" c++11 "$work/core.cpp" $mpi
  fi
done
echo '#include "op_lib_c.h"' >"$work/c.c"
try cc c11 "$work/c.c"
[ -n "$mpi" ] || echo "left out: op_lib_mpi.h, there is no mpicxx"
echo "$compiled compiled"
exit "$failures"

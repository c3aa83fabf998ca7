#!/bin/bash
# matrix.sh RUNTIME SOURCE COMPILER:STANDARD...: the public header, alone and in use, compiles without a warning. A compiler
# that is not there is counted, not passed over in silence; with none at all the test is skipped.
set -u
runtime=$1 source=$2
shift 2
compiled=0 absent=0
for cell in "$@"; do
  compiler=${cell%%:*} standard=${cell#*:}
  case $standard in c++*) language=c++ ;; *) language=c ;; esac
  command -v "$compiler" >/dev/null || {
    echo "absent: $compiler (-std=$standard)"
    absent=$((absent + 1))
    continue
  }
  flags=(-x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$runtime")
  "$compiler" "${flags[@]}" "$source" || {
    echo "$compiler -std=$standard does not take $source"
    exit 1
  }
  # Alone, and twice.
  printf '#include <op2jit.h>\n#include <op2jit.h>\n' | "$compiler" "${flags[@]}" - || {
    echo "$compiler -std=$standard does not take the header alone"
    exit 1
  }
  # A wrong number of arguments is an error, not a list of expressions of which the last counts.
  for call in 'op_fetch_data(d, 3, v)' 'op_put_data(d, 3, v)' 'op_decl_const("k", 1, "double", 3, v)' 'op_update_const("k", 3, v)'; do
    printf '#include <op2jit.h>\nvoid f(op_dat d, double *v);\nvoid f(op_dat d, double *v) { (void)d; %s; }\n' "$call" |
      "$compiler" "${flags[@]}" - 2>/dev/null && {
      echo "$compiler -std=$standard takes $call"
      exit 1
    }
  done
  compiled=$((compiled + 1))
done
echo "$compiled of $# compilers and standards, $absent absent"
[ $compiled -gt 0 ] || exit 77

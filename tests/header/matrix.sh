#!/bin/bash
# matrix.sh RUNTIME SOURCE COMPILER:STANDARD...: the public header, alone and in use, compiles without a warning. A compiler
# that is not there is counted, not passed over in silence; with none at all the test is skipped.
set -u
runtime=$1 source=$2
shift 2
compiled=0 absent=0
scratch=$(mktemp)
trap 'rm -f "$scratch" "$scratch.said"' EXIT
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
  # A C function in place of the kernel's text: C11 says what to write; no compiler takes it for a text in silence.
  printf '#include <op2jit.h>\nvoid k(double *v);\nint f(op_set s, op_arg a);\nint f(op_set s, op_arg a) { return op_par_loop(k, "k", s, a); }\n' >"$scratch"
  "$compiler" "${flags[@]}" "$scratch" 2>"$scratch.said" && {
    echo "$compiler -std=$standard takes a function for a kernel's text"
    exit 1
  }
  case $standard in
  c99 | c++*) ;;
  *) grep -qF 'write OP_KERNEL_OF(f)' "$scratch.said" || {
    echo "$compiler -std=$standard does not say what to write in place of a function"
    exit 1
  } ;;
  esac
  compiled=$((compiled + 1))
done
echo "$compiled of $# compilers and standards, $absent absent"
[ $compiled -gt 0 ] || exit 77

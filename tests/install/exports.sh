#!/bin/bash
# exports.sh HEADER LIBRARY: the library exports what the header, the part of it that is typed and what is for OP2's programs declare, all
# of it and nothing else but the two names by which gdb finds compiled kernels.
set -u
header=$1 library=$2
command -v nm >/dev/null || {
  echo "skipped: there is no nm (Debian's binutils)"
  exit 77
}
declared=$({
  sed -n 's/^#define op_[a-z0-9_]* \(op2jit_[a-z0-9_]*\)$/\1/p' "${header%.h}_names.h" "${header%.h}_tools.h" "${header%.h}_tasks.h" "${header%.h}_bridge.h" "${header%.h}_adjoint.h" "${header%.h}_checkpoint.h"
  grep -ohE '^(void|int|const char \*|extern struct op2jit_map) ?op2jit_[a-z_]+' "$header" "${header%.h}_kernels.h" "${header%.h}_struct.h" | grep -oE 'op2jit_[a-z_]+$'
  grep -oE '^(int|op_dat|op_arg|op_gbl) op2jit_[a-z0-9_]+_typed' "${header%.h}_typed.h" | grep -oE 'op2jit_[a-z0-9_]+$'
  grep -ohE '^(void|int|long long|op_map) op2jit_(op2|par_loop)_[a-z_]+' "${header%/*}"/op2/op2jit_{op2,compiled}.h | grep -oE 'op2jit_[a-z0-9_]+$'
  grep -oE '^[a-z].*\bop2jit_f_[a-z0-9_]+\(' "${header%/*}"/../runtime/api/fortran/fortran.h | grep -oE 'op2jit_f_[a-z0-9_]+'
  printf '%s\n' __jit_debug_descriptor __jit_debug_register_code
} | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u)
if diff <(echo "$declared") <(echo "$exported"); then
  echo "$(echo "$exported" | wc -l) symbols"
  exit 0
fi
echo "< declared in the header but not exported, > exported but not declared"
exit 1

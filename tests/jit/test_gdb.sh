#!/bin/bash
# A debugger stops in a loop, and in its kernel by name and by file and line, shows the kernel's source, its arguments and variables,
# and steps through it line by line, if OP2_DUMP is set. gdb looks inside code that is not there yet only for names of symbols, of which a loop has op2jit_range.
#   test_gdb.sh DEBUGGEE
set -u
if ! command -v gdb >/dev/null; then
  echo "skipped: gdb is not installed"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
said=$(DEBUGINFOD_URLS='' gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break op2jit_range' -ex run \
  -ex 'delete' -ex 'break thrice' -ex 'break thrice.c:4' -ex continue -ex 'info source' -ex list -ex 'delete 2' \
  -ex continue -ex 'info args' -ex 'printf "t is %g\n", t' \
  -ex 'delete' -ex next -ex 'printf "then %g\n", a[0] + b[0]' -ex next --args "$1" "$folder" 2>&1)
status=0
for word in 'Breakpoint 1, op2jit_range' 'Breakpoint 2, thrice (' "$folder/thrice-scalar-" 'Breakpoint 3, thrice (' \
  'thrice.c:4' 'b[0] = t;' 'a = 0x' 'b = 0x' 't is 3' 'then 4'; do
  if ! grep -qF -- "$word" <<<"$said"; then
    echo "gdb did not say: $word"
    status=1
  fi
done
[ $status = 0 ] || printf '%s\n' "$said"
exit $status

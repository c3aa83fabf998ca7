#!/bin/sh
# gdb stops in a loop by its name, in a kernel by file and line, and shows both in a backtrace.
# gdb.sh DEBUGGEE PLUGIN
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 77; }
# shellcheck disable=SC2016 # the variables are of gdb
output=$(gdb -nx -batch -ex 'set confirm off' -ex 'set breakpoint pending on' -ex 'set debuginfod enabled off' \
  -ex 'break a_loop' -ex 'break kernel.c:4' -ex run -ex 'info symbol $pc' -ex continue -ex backtrace \
  -ex 'info args' -ex 'delete' -ex continue --args "$1" "$2" 2>&1)
status=0
for expected in 'Breakpoint 1, a_loop' 'a_loop' 'kernel.c:4' '#1 .*a_loop' 'in = ' 'out 3 15' 'exited normally'; do
  if ! printf '%s\n' "$output" | grep -q -e "$expected"; then
    echo "gdb did not say: $expected"
    status=1
  fi
done
[ $status = 0 ] || printf '%s\n' "$output"
exit $status

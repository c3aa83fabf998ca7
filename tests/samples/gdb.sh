#!/bin/bash
# A debugger on OP2_BACKEND=native stops in a kernel that is in a file of its own, shows the file's lines, goes on line by line
# and knows the kernel's variables.
# Usage: gdb.sh SOURCE BUILD
set -u
source=$1 build=$2
if ! command -v gdb >/dev/null; then
  echo "skipped: gdb is not installed"
  exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cp "$source"/samples/transport/transport* "$folder" &&
  cc -g -O0 -I"$source/include" "$folder/transport.c" -L"$build" -lop2jit -lm -Wl,-rpath,"$build" -o "$folder/transport" || exit 1
line=$(grep -n 'const double volume' "$folder/transport_kernels.h" | head -n 1 | cut -d : -f 1)
said=$(cd / && DEBUGINFOD_URLS='' OP2_CACHE=off gdb -nx -batch -ex 'break flux' -ex run -ex next -ex 'info locals' -ex 'print *c1' -ex next \
  -ex delete -ex continue --args "$folder/transport" --n 4 --end 0.01 OP2_BACKEND=native 2>&1)
status=0
for word in "flux (a=0x" "transport_kernels.h:$line" "volume = " "\$1 = " "const double moved" "transport: PASSED"; do
  if ! grep -qF -- "$word" <<<"$said"; then
    echo "gdb did not say: $word"
    status=1
  fi
done
[ $status = 0 ] || printf '%s\n' "$said"
exit $status

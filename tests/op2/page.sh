#!/bin/bash
# page.sh ROOT BUILD: the program of docs/op2.md compiles, and prints what the page says.
set -u
root=$1 build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # the quotes of markdown
sed -n '/^```cpp$/,/^```$/p' "$root/docs/op2.md" | grep -v '^```' >"$work/app.cpp"
# shellcheck disable=SC2016 # the same
expected=$(sed -n 's/^prints `\(.*\)`\.$/\1/p' "$root/docs/op2.md")
g++ -O1 -Wall -Wextra -Werror -I"$root/include" -I"$root/include/op2" "$work/app.cpp" -L"$build" -lop2jit -o "$work/app" || exit 1
for words in OP2_BACKEND=seq OP2_THREADS=3 OP2_BACKEND=native; do
  got=$(LD_LIBRARY_PATH=$build "$work/app" "$words") || exit 1
  [ "$got" = "$expected" ] || {
    echo "with $words the page's program prints '$got' instead of '$expected'"
    exit 1
  }
done

#!/bin/bash
# page.sh ROOT BUILD: the program of docs/op2.md is built by the page's makefile, its commands run, and each prints what the page says; its
# kernels have their texts.
set -u
root=$1 build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$root/docs/op2.md" | grep -v '^```'; }
block cpp >"$work/app.cpp"
block make | sed 's/-O3 -march=native/-O1 -Wall -Wextra -Werror/' >"$work/Makefile"
# shellcheck disable=SC2016 # the quotes of markdown
expected=$(sed -n 's/^prints `\(.*\)`\.$/\1/p' "$root/docs/op2.md")
# The words of pkg-config are of the installed library, which has a test of its own.
export CCACHE_DISABLE=1 LD_LIBRARY_PATH=$build PKG_CONFIG_PATH=$build/meson-uninstalled CPATH=$root/include:$root/include/op2 LIBRARY_PATH=$build
cd "$work" || exit 1
block sh >commands
if [ -z "$expected" ] || [ "$(wc -l <commands)" -lt 4 ]; then
  echo "the page lacks its program's output or its commands"
  exit 1
fi
while read -r command; do
  [[ $command != mpirun* ]] || continue # tests/mpi has ranks
  got=$(bash -c "$command" 2>&1) || {
    printf '%s failed:\n%s\n' "$command" "$got"
    exit 1
  }
  [[ $command == make* ]] || grep -qxF -- "$expected" <<<"$got" || {
    printf '%s was expected to print "%s":\n%s\n' "$command" "$expected" "$got"
    exit 1
  }
done <commands
[ -e "$build/jit/clang/op2jit-clang.so" ] || {
  echo "left out: there is no compiler plugin"
  exit
}
OP2_PLUGINS=$build/jit/clang "$build/runtime/cli/op2jit" why-not ./app >why 2>&1
grep -qx "all loops that ran have their texts" why || {
  cat why
  exit 1
}

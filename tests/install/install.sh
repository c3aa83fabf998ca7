#!/bin/bash
# install.sh SOURCE BUILD BACKEND...: installs the build to a folder of its own, compiles the README's program against it
# with nothing but cc and pkg-config, and runs it from another directory with an empty environment; then moves
# the installed tree and does it again.
set -u
source=$1 build=$2
shift 2
backends=("$@")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install: $*"
  exit 1
}

install_to() { # FOLDER
  meson install -C "$build" --no-rebuild --quiet --destdir "$1" >"$work/log" 2>&1 ||
    fail "meson install failed: $(tail -n 5 "$work/log")"
}

# shellcheck disable=SC2016 # the quotes of markdown
readme_program() { sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```'; }

compile() { # TREE PROGRAM [SOURCE]: with the pkg-config file of that tree
  local tree=$1 program=$2 text=${3:-app.c} pc flags
  pc=$(find "$tree" -name op2jit.pc)
  [ -n "$pc" ] || fail "no op2jit.pc was installed"
  flags=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs op2jit) || fail "pkg-config does not take $pc"
  # shellcheck disable=SC2086 # a list of flags
  (cd "$work" && cc -Wall -Wextra -Werror "$text" $flags -o "$program") || fail "the program does not compile"
}

# Prints what the program prints. In an empty environment there is no place for the kernel cache, about which
# there may be a warning; an error would show in the status, and is printed.
run() { # PROGRAM VARIABLE...
  local program=$1
  shift
  (cd / && env -i "$@" "$program" 2>"$work/said") || cat "$work/said"
}

expect() { # WHAT EXPECTED GOT
  [ "$2" = "$3" ] || fail "$1 printed '$3' instead of '$2'"
  echo "$1: $3"
}

check_tree() { # TREE LABEL
  local tree=$1 label=$2 backend
  compile "$tree" "$work/app"
  check_command "$tree"
  check_mesh "$tree"
  expect "$label, environment empty" "3 2 2 -7" "$(run "$work/app")"
  for backend in "${backends[@]}"; do
    expect "$label, $backend" "3 2 2 -7" "$(run "$work/app" OP2_BACKEND="$backend")"
  done
}

check_command() { # TREE: the command knows the plugin of its own tree
  local command said
  command=$(find "$1" -path '*/bin/op2jit')
  said=$(cd / && env -i "$command" info 2>&1) || fail "op2jit info failed: $said"
  [ ${#backends[@]} -eq 1 ] || [[ $said == *clang* ]] || fail "op2jit info does not know the compiler: $said"
}

check_mesh() { # TREE: a mesh that a program writes, with nothing to complain of
  local command said
  command=$(find "$1" -path '*/bin/op2jit')
  find "$1" -name op2jit-hdf5.so | grep -q . || return 0
  printf '%s\n' '#include <op2jit.h>' '#include <op2jit_io.h>' 'int main(int argc, char **argv) {' '  op_init(argc, argv, 0);' \
    '  op_decl_set(4, "pcell");' '  op_dump_to_hdf5("square.h5");' '  op_exit();' '}' >"$work/mesh.c"
  compile "$1" "$work/mesh" mesh.c
  (cd "$work" && env -i ./mesh OP2_BACKEND=native) >"$work/log" 2>&1 || fail "no mesh is written: $(cat "$work/log")"
  (cd / && env -i "$command" mesh info "$work/square.h5" >"$work/log" 2>"$work/said") || fail "op2jit mesh info failed: $(cat "$work/said")"
  said=$(cat "$work/said")
  [ -z "$said" ] || fail "op2jit mesh info complains: $said"
  grep -q pcell "$work/log" || fail "op2jit mesh info does not know the square: $(cat "$work/log")"
  echo "the installed command reads HDF5"
}

check_pages() { # TREE: the manual and the samples are there, and what a page names is beside it
  local doc page link
  doc=$(find "$1" -path '*/share/doc/op2jit' -type d)
  for page in README.md CHANGELOG.md SECURITY.md docs/manual.md docs/reports.md docs/cache.md docs/environment.md docs/errors.md docs/tutorial.c \
    docs/decisions/README.md include/op2jit.h samples/README.md samples/start/Makefile samples/start/meson.build samples/transport/transport_kernels.h samples/airfoil/airfoil.c; do
    [ -s "$doc/$page" ] || fail "$page is not among the documents"
  done
  while IFS= read -r page; do
    while IFS= read -r link; do
      [ -e "${page%/*}/${link%%#*}" ] || fail "${page#"$1"} names $link, which was not installed"
    done < <(grep -oE '\]\([^)#:][^):]*\)' "$page" | sed 's/^](//; s/)$//')
  done < <(find "$doc" -name '*.md')
  find "$doc" -name meson.build | grep -v "samples/start/" && fail "files of the build are among the documents"
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name op2jit.pc)") "$source/tests/install/start.sh" "$doc/samples/start" || exit 1
  begun "$1"
  cp -r "$doc/samples" "$work/samples" && sample "$1" && rm -r "$work/samples"
}

begun() { # TREE: a folder that op2jit new makes, in C and in C++
  local command language
  command=$(find "$1" -path '*/bin/op2jit')
  for language in '' --cpp; do
    (cd "$work" && rm -rf begun && "$command" new $language begun && cd begun &&
      PKG_CONFIG_PATH=$(dirname "$(find "$1" -name op2jit.pc)") make && OP2_BACKEND=native ./begun) >"$work/log" 2>&1
    grep -q PASSED "$work/log" || fail "op2jit new $language: $(cat "$work/log")"
    (cd "$work" && "$command" new begun) >"$work/log" 2>&1 && fail "op2jit new replaced a folder"
  done
  "$command" new "$work/9" >"$work/log" 2>&1 && fail "op2jit new took a name that is none"
  grep -q "is no name of a program" "$work/log" || fail "op2jit new 9 said $(cat "$work/log")"
}

sample() { # TREE: a sample, copied out and compiled as samples/README.md says (all of them: the test "sample commands")
  local pc
  pc=$(find "$1" -name op2jit.pc)
  (cd "$work/samples" && PKG_CONFIG_PATH=${pc%/*} sh -ec "$(grep '^    cc transport/' README.md)") || fail "the sample transport does not compile"
  (cd / && env -i "$work/samples/transport/transport" --n 4 OP2_BACKEND=native >"$work/log" 2>&1) ||
    fail "the sample transport fails: $(cat "$work/log")"
  echo "the installed sample transport: $(tail -n 1 "$work/log")"
}

check_files() { # TREE
  local name
  for name in libop2jit.so op2jit.h op2jit_names.h op2jit_io.h op2jit_kernels.h op2jit_tune.h op2jit_mpi.h op2jit_tasks.h op2jit_tools.h op2jit_typed.h op2jit_struct.h op2jit_ragged.h op2jit_adjoint.h op2jit_matrix.h op2jit_bridge.h op2jit_checkpoint.h op2jit_petsc.h op2jit.pc op2jit op2jit.1 LICENSE; do
    find "$1" -name "$name" | grep -q . || fail "$name was not installed"
  done
  check_pages "$1"
  if grep -rlF --include='*.pc' --include='*.h' --include='*.1' -e "$build" "$1"; then
    fail "an installed file names the build directory"
  fi
}

readme_program >"$work/app.c"
install_to "$work/first"
check_files "$work/first"
check_tree "$work/first" "installed"
mv "$work/first" "$work/second" || fail "the tree cannot be moved"
check_tree "$work/second" "moved"

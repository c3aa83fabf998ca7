#!/bin/bash
# embed.sh SOURCE BUILD: installs the build to a folder of its own and moves it. A CMake project outside of all trees, with OP2 loops in two
# units, finds it, embeds the texts of its kernels by op2jit_embed, and runs by them when its sources are gone, from the cache too.
# shellcheck disable=SC2015,SC2016 # and-or lists; the quotes of markdown
set -u
source=$1 build=$2
for tool in cmake g++; do
  command -v "$tool" >/dev/null || {
    echo "skipped: there is no $tool"
    exit 77
  }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() {
  echo "embed: $*"
  exit 1
}
meson install -C "$build" --no-rebuild --quiet --destdir "$work/first" >"$work/log" 2>&1 || fail "meson install: $(tail -n 5 "$work/log")"
command=$(find "$work/first" -name op2jit -path '*/bin/*')
[ -n "$command" ] && [ -e "${command%/*}/op2jit-c++" ] || fail "no op2jit-c++ was installed"
mv "${command%/bin/op2jit}" "$work/tree"
[ -n "$(find "$work/tree" -name 'op2jit-clang.so')" ] || {
  echo "skipped: there is no compiler plugin"
  exit 77
}

mkdir -p "$work/project/inner"
cd "$work/project" || exit 1
sed -n '/^```cpp$/,/^```$/p' "$source/docs/op2.md" | grep -v '^```' |
  sed 's|^#include "op_seq.h"|&\nvoid others(op_dat sum);|; s|  op_fetch_data(sum, sums);|  others(sum);\n&|' >app.cpp
cat >inner/scale.h <<'EOF'
inline void scale(double *x) {
  *x *= SCALE;
}
EOF
cat >inner/others.cpp <<'EOF'
#include "op_seq.h"
#include "scale.h"
void others(op_dat sum) {
  op_par_loop(scale, "scale", sum->set, op_arg_dat(sum, -1, OP_ID, 1, "double", OP_RW));
}
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(app CXX)
find_package(op2jit REQUIRED)
add_library(others STATIC inner/others.cpp)
add_executable(app app.cpp)
target_compile_definitions(others PRIVATE SCALE=2)
target_link_libraries(others PUBLIC op2jit::op2)
target_link_libraries(app others)
op2jit_embed(app others)
EOF
cmake -S . -B "$work/made" -DCMAKE_PREFIX_PATH="$work/tree" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 &&
  cmake --build "$work/made" >>"$work/log" 2>&1 || fail "$(tail -n 20 "$work/log")"
grep -q "have no texts" "$work/log" && fail "$(grep 'have no texts' "$work/log")"
# The compiler by itself, of both units in one command: to a program, and to objects.
with="$work/tree/bin/op2jit-c++ -DSCALE=2 -Iinner app.cpp inner/others.cpp"
$with -o "$work/made/at_once" >"$work/log" 2>&1 || fail "op2jit-c++ of two files: $(cat "$work/log")"
(mkdir objects && cd objects && cp -r ../app.cpp ../inner . && $with -c && "$work/tree/bin/op2jit-c++" app.o others.o -o "$work/made/objects") \
  >"$work/log" 2>&1 || fail "op2jit-c++ -c of two files: $(cat "$work/log")"
mv "$work/project" "$work/gone"
export OP2_LOG=info,jit OP2_BACKEND=seq
for program in app at_once objects; do
  export OP2_CACHE=$work/$program.db
  for run in compiled cached; do
    said=$(cd / && "$work/made/$program" 2>"$work/err") || fail "$program, $run: $(cat "$work/err")"
    [ "$said" = "2.8 2.8 5.6 -11.2" ] || fail "$program, $run: printed '$said'"
    grep -q "runs as the program's compiler made it" "$work/err" && fail "$program, $run: $(cat "$work/err")"
    [ "$(grep -c 'compiled in' "$work/err")" -eq "$([ $run = compiled ] && echo 2 || echo 0)" ] || fail "$program, $run: $(cat "$work/err")"
  done
done
"$work/tree/bin/op2jit" why-not "$work/made/app" >"$work/why" 2>/dev/null || fail "why-not"
grep -qx "all loops that ran have their texts" "$work/why" || fail "why-not says $(cat "$work/why")"
echo "both units run by the texts in the program"

#!/bin/bash
# whose.sh ROOT BUILD: the text of a kernel is that of the program's own source, wherever the program runs, lies and was compiled, and whatever
# other sources have its name: in the working folder, beside the program, or in the program itself.
set -u
root=$1 build=$2
if [ ! -e "$build/jit/clang/op2jit-clang.so" ]; then
  echo "SKIPPED: there is no compiler plugin"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build OP2_PLUGINS=$build/jit/clang OP2_TUNE=off OP2_BACKEND=seq OP2_CACHE=off CCACHE_DISABLE=1
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
includes=(-I"$root/include" -I"$root/include/op2")
part() { # FOLDER FACTOR: a source of the same name, with a loop in the same line
  mkdir -p "$work/$1"
  cat >"$work/$1/part.cpp" <<EOF
#include "op_seq.h"
static void scale(double *x) { *x *= $2; }
void run_$1(op_dat x) { op_par_loop(scale, "scale", x->set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW)); }
EOF
  cat >"$work/$1/main.cpp" <<EOF
#include "op_seq.h"
${3:-void run_$1(op_dat);}
int main(int argc, char **argv) {
  double value = 1;
  op_init(argc, argv, 0);
  op_set set = op_decl_set(1, "set");
  op_dat x = op_decl_dat(set, 1, "double", &value, "x");
  ${4:-run_$1(x);}
  op_fetch_data(x, &value);
  printf("%g\n", value);
  op_exit();
}
EOF
}
check() { # WHAT ANSWER FOLDER PROGRAM: run there; the log is in $work/log
  local got
  got=$(cd "$3" && OP2_LOG=info,jit "$4" 2>"$work/log")
  [ "$got" = "$2" ] || fail "$1: $got instead of $2: $(cat "$work/log")"
}
has_texts() { # WHAT COUNT
  [ "$(grep -c 'kernel scale .*compiled in' "$work/log")" -eq "$2" ] || fail "$1: not $2 texts: $(cat "$work/log")"
}
has_none() { # WHAT WORDS: and one line says so, for all loops of the source
  grep -q "loop scale runs as the program's compiler made it: .*$2" "$work/log" || fail "$1: it does not say '$2': $(cat "$work/log")"
  [ "$(grep -c "warning: the loops of part.cpp run as the program's compiler made them: .*$2" "$work/log")" -eq 1 ] ||
    fail "$1: not one line says '$2': $(cat "$work/log")"
}

# A source of the name in the working folder, and beside the program.
part a 2
part b 3
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || {
    echo "left out: there is no $compiler"
    continue
  }
  (cd "$work/a" && $compiler -O1 -g1 "${includes[@]}" main.cpp part.cpp -o ../b/program -L"$build" -lop2jit) || exit 1
  check "$compiler, in another folder" 2 "$work/b" ./program
  has_texts "$compiler, in another folder" 1
done
mv "$work/a/part.cpp" "$work/away.cpp"
check "the source is gone" 2 "$work/b" ./program
has_none "the source is gone" "a/part.cpp is not there as a file"
mv "$work/away.cpp" "$work/a/part.cpp"

# Debug information that does not say where the source is.
(cd "$work/a" && g++ -O1 "${includes[@]}" main.cpp part.cpp -o program -L"$build" -lop2jit) || exit 1
check "without debug information" 2 "$work/a" ./program
has_none "without debug information" "no debug information of 'part.cpp'.*-g1"
(cd "$work/a" && OP2_JIT=off ./program 2>&1 | grep warning) && fail "OP2_JIT=off is warned of texts that it does not want"
(cd "$work/a" && g++ -O1 -g1 -fdebug-prefix-map="$work/a"=. "${includes[@]}" main.cpp part.cpp -o program -L"$build" -lop2jit) || exit 1
check "a folder of another name" 2 "$work/b" ../a/program
has_none "a folder of another name" "does not say in which folder"

# A header that is in two folders: which one the compiler took is known of those with code only.
mkdir "$work/one" "$work/other"
echo 'inline double same(double x) { return x; }' | tee "$work/one/code.h" >"$work/other/more.h"
sed -i 's/same/more/' "$work/other/more.h"
echo '#define FACTOR 2' >"$work/one/factor.h"
part c "same(more(FACTOR))"
sed -i 's|^#include "op_seq.h"|#include "code.h"\n#include "more.h"\n#include "factor.h"\n&|' "$work/c/part.cpp"
two_folders() { (cd "$work/c" && g++ -O1 "$@" -I../one -I../other "${includes[@]}" main.cpp part.cpp -o program -L"$build" -lop2jit) || exit 1; }
two_folders -g1
check "a header in one folder" 2 "$work/c" ./program
has_texts "a header in one folder" 1
echo '#define FACTOR 3' >"$work/other/factor.h"
two_folders -g1
check "a header in two folders" 2 "$work/c" ./program
has_none "a header in two folders" "other/factor.h may be .*one/factor.h"
two_folders -g3
check "a header in two folders, with -g3" 2 "$work/c" ./program
has_none "a header in two folders, with -g3" "other/factor.h may be .*one/factor.h"
command -v clang++ >/dev/null && (cd "$work/c" && clang++ -O1 -g1 -grecord-command-line -I../one -I../other "${includes[@]}" main.cpp part.cpp -o program -L"$build" -lop2jit) &&
  check "a header in two folders, with clang++'s flags" 2 "$work/c" ./program && has_texts "a header in two folders, with clang++'s flags" 1
export OP2_CXXFLAGS='-I../one -I../other'
two_folders -g1
check "a header in two folders, with flags" 2 "$work/c" ./program
has_texts "a header in two folders, with flags" 1
unset OP2_CXXFLAGS

# Two of one name in one program.
part both 0 'void run_a(op_dat); void run_b(op_dat);' 'run_a(x), run_b(x);'
both() { # COMPILER...: of the parts, each in its folder
  (cd "$work/a" && "$@" -c part.cpp) && (cd "$work/b" && "$@" -c part.cpp) &&
    g++ -g1 "${includes[@]}" "$work/both/main.cpp" "$work/a/part.o" "$work/b/part.o" -o "$work/both/program" -L"$build" -lop2jit || exit 1
}
both g++ -O1 -g1 "${includes[@]}"
check "two sources of one name" 6 "$work/a" ../both/program
has_none "two sources of one name" "several sources of one name"
export OP2JIT_HEADERS=$root/include/op2 OP2JIT_LIBRARY=$build OP2JIT_COMMAND=$build/runtime/cli/op2jit
both sh "$build/runtime/cli/op2jit-c++" -O1
rm "$work/a/part.cpp" "$work/b/part.cpp"
check "texts of two sources of one name" 6 "$work/a" ../both/program
has_texts "texts of two sources of one name" 2
[ "$failures" -eq 0 ] && echo "each loop has the text of its own source"
exit "$failures"

#!/bin/bash
# run.sh COMPILER ROOT BUILD: compiles the modules, tests and samples in Fortran with COMPILER outside the tree, and runs them on backends.
# shellcheck disable=SC2015,SC2016 # words for fail, and quotes of markdown
set -u
compiler=$1 root=$2 build=$3
command -v "$compiler" >/dev/null || {
  echo "skipped: there is no $compiler; ./dev test --with fortran installs it (Debian's gfortran and flang-19)"
  exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export LD_LIBRARY_PATH=$build OP2_KERNELS=$root/samples/airfoil OP2_CACHE=off
failed=0
strict=()
[ "$compiler" != gfortran ] || strict=(-std=f2008 -Wall -Wextra -Werror -Wno-surprising -Wno-unused-dummy-argument)

fail() {
  echo "FAILED: $1"
  sed 's/^/  | /' said | tail -n 30
  failed=1
}
compile() { # WORD...
  "$compiler" -O1 "$@" >said 2>&1 || fail "$compiler $*"
  [ -z "${quiet:-}" ] || ! grep -qi warning said || fail "$compiler warns of the modules"
}
run() { # PROGRAM WORD...: with words like NAME=VALUE before its own
  local program=$1 words=()
  shift
  while [ $# -gt 0 ] && [[ $1 == *=* ]]; do words+=("$1") && shift; done
  env ${words[@]+"${words[@]}"} "./$program" "$@" >said 2>&1 || fail "${words[*]-} $program $*"
}

quiet=yes
compile ${strict[@]+"${strict[@]}"} -c "$build/fortran/op2jit.f90"
compile ${strict[@]+"${strict[@]}"} -c "$build/fortran/op2_fortran.f90"
quiet=
[ $failed = 0 ] || exit 1
for program in surface newer taken refused adjoint matrix old arrays; do
  compile "$root/tests/fortran/check.f90" "$root/tests/fortran/$program.f90" op2jit.o op2_fortran.o -L"$build" -lop2jit -o $program
done
for program in heat airfoil poisson; do
  compile "$root/samples/$program/$program.f90" op2jit.o -L"$build" -lop2jit -o $program
done
# The programs of the page.
block() { # NUMBER: what the page has in its fences of Fortran
  awk -v wanted="$1" '/^```fortran$/ { n++; inside = n == wanted; next } /^```$/ { inside = 0 } inside' "$root/docs/fortran.md"
}
block 1 >page.f90
block 2 >constants.f90
block 3 >tasks.f90
block 4 >derivatives.f90
block 5 >flux.f90
for program in constants tasks derivatives flux; do
  compile $program.f90 op2jit.o -L"$build" -lop2jit -o $program
done
# The orders of arguments that the page tells are the module's.
sed -nE 's/^\| (`op_[a-z0-9_]+`,? ?)+ \| `([a-z_, ]+)` \|.*/\2/p' "$root/docs/fortran.md" >orders
[ "$(wc -l <orders)" -ge 25 ] || fail "the page has no table of orders"
while read -r order; do
  grep -qE "(function|subroutine) [a-z0-9_]+\($order(,|\))" "$build/fortran/op2jit.f90" || fail "no call has the arguments $order"
done <orders
sed -n '/^```c$/,/^```$/p' "$root/docs/fortran.md" | sed '/^```$/,$d; 1d' >mean.c
# The loop as those who come from others find it.
sed -n '/^```fortran$/,/^```$/p' "$root/docs/guide/coming.md" | sed '/^```$/,$d; 1d' >coming.f90
sed -n '/OP_KERNEL_DEF(/,/})/p' "$root/docs/guide/coming.c" | sed '1d; s/^ *spread, void/static void/; s/})/}/' >spread.c
compile coming.f90 op2jit.o -L"$build" -lop2jit -o coming
compile page.f90 op2jit.o -L"$build" -lop2jit -o page
[ $failed = 0 ] || exit 1

backends='native'
if find "$build" -name '*op2jit-clang.so' | grep -q . || [ -n "${OP2_PLUGINS:-}" ]; then backends='native seq openmp'; fi
for backend in $backends; do
  run surface OP2_BACKEND="$backend" OP2_THREADS=3
  run newer OP2_BACKEND="$backend" OP2_THREADS=3
  run taken OP2_BACKEND="$backend" OP2_THREADS=3
  run refused OP2_BACKEND="$backend"
  run adjoint OP2_BACKEND="$backend" OP2_THREADS=3
  run matrix OP2_BACKEND="$backend" OP2_THREADS=3
  run heat OP2_BACKEND="$backend" OP2_THREADS=3 OP2_KERNELS="$root/samples/heat" --n 40
  run airfoil OP2_BACKEND="$backend" OP2_THREADS=3 --cells 20000 --iters 50
  grep -q 'iterations  8.07863225.*yes' said || fail "airfoil on $backend has other numbers than the C sample"
done
# Mistakes that are found while loops run.
if [ "$backends" != native ]; then
  run refused OP2_BACKEND=seq OP2_CHECK=reaches,sets,put
  run refused OP2_BACKEND=seq OP2_SHADOW=native
fi
# The kernels are C alone, and the solver is PETSc's, where it is built.
if [ "$backends" != native ] && [ -e "$build/runtime/solve/op2jit-petsc-real.so" ]; then
  run poisson OP2_KERNELS="$root/samples/poisson" --n 8
  grep -q 'poisson: PASSED' said || fail "poisson"
else
  echo "[  SKIPPED ] poisson: there is no compiler, or no PETSc (Debian's petsc-dev)"
fi
[ "$backends" = native ] || run page OP2_BACKEND=openmp OP2_THREADS=3
[ "$backends" = native ] || grep -q '10.0000' said || fail "the program of the page prints something else"
[ "$backends" = native ] || run constants OP2_BACKEND=openmp OP2_THREADS=3
[ "$backends" = native ] || grep -q '41.5  43.0  44.5' said || fail "the constants of the page print something else"
[ "$backends" = native ] || run coming OP2_BACKEND=openmp OP2_THREADS=3
[ "$backends" = native ] || [ "$(tr -s ' ' <said)" = ' 8.00 1.00 2.00 -11.00' ] || fail "the program for those who come from others prints something else"
[ "$backends" = native ] || run derivatives OP2_BACKEND=openmp OP2_THREADS=3
[ "$backends" = native ] || grep -q '0.2103  0.0958  0.0438' said || fail "the derivatives of the page print something else"
for backend in $backends; do
  run flux OP2_BACKEND="$backend" OP2_THREADS=3
  grep -q -- '-2.80   4.20   7.00   1.40  -6.30  -2.80   2.10  -2.80' said || fail "the kernel in Fortran of the page gives something else on $backend"
done
run tasks OP2_THREADS=3
grep -q '100.0' said || fail "the tasks of the page sum up something else"
# Sections are said once.
run surface OP2_BACKEND=native
[ "$(grep -c 'is copied' said)" = 1 ] || fail "a section that is copied is not said once"
# A newcomer's program of five kernels, which are read when it runs, and mistakes in them (a line of sed) or in its calls (a word of
# its own). Each is told in words of Fortran, and shown with a caret under what the last column says (-: what is told is no line's).
planted="s/(inout) :: out(3)\$/(in) :: out(3)/|out is intent(in) and cannot be assigned; declare it intent(inout)|out(2:3) =
s/(inout) :: out_left/(out) :: out_left/|(out_left) is intent(out), which forgets what it held.*declare it intent(inout)|out_left,
s/speed = norm2/sped = norm2/|sped is not declared; did you mean speed?|sped =
s/(wave(left/(waves(left/|waves is not declared; did you mean wave?|waves(left
s/\/q(1) + s/\/q(0) + s/|index 0 of q is below the bound 1; arrays count from 1|0) + s
s/do i = 1, 3/do i = 0, 2/|array f has 3 elements, and the kernel uses element 0; use elements 1 to 3|f(i) +
s/:: q(3), area/:: q(:), area/|q has an assumed shape.*write its extents, as (4)|q(:)
s/:: q(3), area/:: q, area/|q is declared as one value; write its extents there, as q(3)|q(2:3)
s/f(3), speed/speed; real(wp), allocatable :: f(:)/|f is allocatable; kernels allocate nothing: give it constant bounds|f(:)
s/intent(in) :: normal(2), left(3)/pointer :: normal(:), left(3)/|normal is a pointer; pass the array itself|normal(:)
s/wave(right, normal))/0.0)/|this is real(4), and the first real(8): write 1d0 for 1.0|0.0)
s/real(wp), intent(in) :: normal(2), q(3)\$/real, intent(in) :: normal(2), q(3)/|its type differs; write \"real(8), intent(in) :: normal(2)\"|normal, q
s/out_left = out_left - f/call flux(normal, left, right, out_left, out_right)/|flux calls itself.*recursion is not in the subset: write a loop|flux(
s/integer :: i/integer :: i; common scale/|.common. is not in the subset; declare what the kernel reads as a constant|common
s/speed\$/speed = 0/|makes it saved.*give it the value in a statement|= 0
s/old = q/old(1) = q(1)/|never writes component 2; declare argument 2 (old) OP_RW, or write all its components|keep(
s/out = 0/write (*, *) volume/|.write. is not in the subset.*print [*]|write (
s/out = 0/gravity = 9/|gravity is a variable of a module, a constant for kernels, and cannot be assigned|gravity =
s/real(wp) :: gravity/real(wp), parameter :: gravity/|that kernels cannot have: the parameter gravity has no value|gravity*q
constant|write .call op_decl_const('gravity', 1, 'real(8)', gravity). before the loop|gravity*q
kind|op_decl_const declared courant with dim 1 and type real(4).*make both the same|courant*sqrt
missing|the kernel has 5 parameters, but the call has 4 arguments|flux(
order|argument 4 is dat \"q\" of type real(8), OP_READ: what is only read must be intent(in)|out_left,
read|argument 2 (old) is intent(out).*passes it OP_READ.*declare it intent(in)|old)
summed|declared OP_INC, and the kernel reads it; declare argument 3 (step) OP_MIN|step,
wide|the dim is 2, but dat \"q\" was declared with dim 3; pass 3|-
column|the index is 0, but map \"sides\" has arity 2; expected 1 .. 2|-
entry|map \"sides\" has a 0 for element 7, and maps count from 1|-
written|passed as argument 4 (OP_READ) and as argument 5 (OP_INC).*read from a copy|-
name|the text in Fortran has no subroutine flex; it has keep, longest, flux, wall, advance; did you mean flux?|-"
plant() { # MISTAKE PATTERN SHOWN
  local script='' word=$1
  [[ $1 != s/* ]] || script=$1 word=
  sed "$script" "$root/tests/fortran/shallow_kernels.f90" >shallow_kernels.f90
  OP2_BACKEND=seq OP2_CACHE=$PWD/store ./shallow "$word" >said 2>&1 && fail "the mistake passes: $1"
  grep -q -- "$2" said || fail "the mistake $1 is not told: $2"
  ! grep -v '^ *[0-9]* |' said | grep -E '(^|[^-])\b(const|double|float|int|void|struct|static)\b|[{}]|&&' || fail "the mistake $1 is told in words of C"
  [ "$3" = - ] || awk -v shown="$3" '/^ *[|] *\^/ && substr(line, index($0, "^"), length(shown)) == shown { good = 1 } { line = $0 }
    END { exit !good }' said || fail "the mistake $1 is not shown at $3"
}
if [ "$compiler" = gfortran ] && [ "$backends" != native ]; then
  compile -O0 "$root/tests/fortran/shallow_kernels.f90" "$root/tests/fortran/shallow.f90" op2jit.o -L"$build" -lop2jit -o shallow
  cp "$root/tests/fortran/shallow_kernels.f90" .
  for backend in seq openmp; do
    run shallow OP2_BACKEND=$backend OP2_THREADS=2 OP2_CACHE="$PWD/store"
    grep -q '600.000000  1.445078  1.622234' said || fail "water is lost on $backend"
  done
  while IFS='|' read -r mistake pattern shown; do plant "$mistake" "$pattern" "$shown"; done <<<"$planted"
fi
# OP2's modules need no compiler at run time.
for words in OP2_BACKEND=native OP2_BACKEND=seq 'OP2_BACKEND=openmp OP2_THREADS=1' 'OP2_BACKEND=openmp OP2_THREADS=3' \
  'OP2_BACKEND=openmp OP2_THREADS=3 OP2_VARIANT=spread:owners'; do
  # shellcheck disable=SC2086 # several words
  run old $words OP2_JIT=off
  # shellcheck disable=SC2086 # several words
  run arrays $words OP2_JIT=off
done
# Mistakes with OP2's modules: each ends the program with its message.
mistake() { # WORD PATTERN
  OP2_BACKEND=openmp OP2_THREADS=3 OP2_JIT=off ./arrays "$1" >said 2>&1 && fail "the mistake $1 passes"
  grep -qE "$2" said || fail "the mistake $1 is not told: $2"
}
mistake stranger 'no dat was declared with the array'
mistake map 'no map was declared with the array'
mistake twice 'dats "a" and "a again" were both declared'
mistake kind '"other" is declared "real\(8\)", and the variable is of type real\(4\)'
mistake type '"a" is declared "real\(8\)", and the variable is of type real\(4\)'
mistake section 'argument 1.*the array is a section'
mistake zero 'a 0 for element 7.*op_init_base'
mistake dim 'argument 1.*dim'
mistake turned '"turned" has 2 values for each element.*declare it \(2, 3000\)'
mistake far 'entry 2 of element 7 of set "edges" is 3001; expected 1 .. 3000'
mistake self 'argument 1: the index is 0'
mistake none 'the array for "nothing" is not allocated'
mistake none2 'the array for "nothings" is not allocated'
mistake access 'the access 99 is unknown'
mistake size 'op_get_size: the set is NULL'
run arrays OP2_BACKEND=native copied
[ "$(grep -c 'is copied' said)" = 1 ] || fail "sections given to OP2's modules are not said once"
# A kernel that needs the stack of the procedure around it: on one thread, which is said; never on several.
run old OP2_BACKEND=openmp OP2_THREADS=3 OP2_JIT=off
grep -q 'internal procedure' said || fail "an internal procedure on threads is not warned of"
run old OP2_BACKEND=openmp OP2_THREADS=3 OP2_JIT=off OP2_VARIANT=look:chunks # a word that the loop cannot have is left out
grep -q 'its loops run on one thread' said || fail "an internal procedure was called by several threads"
# Names of kernels in reports are those of the source.
run old OP2_BACKEND=native OP2_TIMING=text
for name in spread number top wide of_program look look_again; do grep -q "^$name " said || fail "the report has no loop $name"; done
# Without stat= an error ends the program.
cat >fatal.f90 <<'P'
program fatal
  use op2jit
  implicit none
  type(op_set) :: set
  call op_init()
  set = op_decl_set(-1, 'less')
  print *, 'still here'
end program
P
compile fatal.f90 op2jit.o -L"$build" -lop2jit -o fatal
./fatal >said 2>&1 && fail "an error without stat= did not end the program"
if ! grep -q 'OP_ERR_SIZE' said || grep -q 'still here' said; then fail "an error without stat= is not told"; fi
# Texts of procedures, also of those that use variables on the main program's stack; kernels.sh has more, with gfortran.
if [ "$compiler" != gfortran ] && [ "$backends" != native ]; then
  export OP2JIT_FC=$compiler OP2JIT_COMMAND=$build/runtime/cli/op2jit OP2JIT_LIBRARY=$build
  compiler=$build/runtime/cli/op2jit-fc
  compile "$root/tests/fortran/jac_kernels.F90" "$root/tests/fortran/jac.f90" op2_fortran.o -o jac
  OP2_BACKEND=openmp OP2_THREADS=2 "$OP2JIT_COMMAND" why-not ./jac >said 2>&1 || fail "why-not ./jac"
  for words in ' 2.0 2002.0' ' 4210.68545675 2.05126953' 'all loops that ran have their texts'; do
    tr -s ' ' <said | grep -qx -- "$words" || fail "jac does not say: $words"
  done
fi
exit $failed

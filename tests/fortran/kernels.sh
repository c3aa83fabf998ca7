#!/bin/bash
# kernels.sh ROOT BUILD WHAT...: kernels in Fortran by their texts.
#   random SIZE SEED COUNT [SEED COUNT ...]   random procedures against gfortran's, bit for bit, on seq and openmp; SIZE: how deeply
#                                             their statements are nested (tests/fortran/random.py)
#   programs                             a program in the manner of OP2: from what op2jit-fc put into it, from debug information,
#                                        and without a text, and what why-not says
# shellcheck disable=SC2015,SC2016,SC2086 # quotes of Fortran, and words of an environment
set -u
root=$1 build=$2 what=$3
shift 3
command -v gfortran >/dev/null || {
  echo "skipped: there is no gfortran (Debian's gfortran)"
  exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
export LD_LIBRARY_PATH=$build OP2_CACHE=off OP2_TUNE=off
failed=0
fail() {
  echo "FAILED: $1"
  head -n 30 said
  failed=1
}

random() { # SEED COUNT
  mkdir "$1"
  python3 "$root/tests/fortran/random.py" "$1" "$2" "$1" 10 "$size" || exit 99
  [ "$size" -gt 1 ] && flags='-O1 -ffp-contract=off' || flags=-O0
  (cd "$1" && gfortran -w $flags -I.. kernels.f90 compare.f90 ../op2jit.o -L"$build" -lop2jit -o compare) >said 2>&1 ||
    fail "seed $1: gfortran compiles no module of random kernels"
  # Code for several elements at once takes longer to compile: of short kernels the first two have it.
  [ "$size" -gt 1 ] || words=OP2_VARIANT=$(seq -s , -f k%g:scalar 2 $((($2 + 9) / 10 - 1)))
  for backend in seq openmp; do
    (cd "$1" && env OP2_FP=strict OP2_BACKEND=$backend ${words:-} ./compare) >said 2>&1 || fail "seed $1: kernels differ on $backend"
  done
}

# The program prints what it did where it ran by its procedures, and why-not says the pattern.
program() { # LABEL PROGRAM PATTERN WORD...
  local label=$1 program=$2 pattern=$3
  shift 3
  env OP2_BACKEND=openmp "$@" "./$program" >said 2>&1 || fail "$label"
  grep -q '4210.68545675    2.05126953' said && grep -q ' 2.0    2002.0' said || fail "$label: other numbers"
  env OP2_BACKEND=openmp "$@" "$build/runtime/cli/op2jit" why-not "./$program" >said 2>&1 || fail "$label: why-not"
  grep -q -- "$pattern" said || fail "$label: why-not does not say: $pattern"
}

if [ "$what" = random ]; then
  size=$1
  shift
  gfortran -O0 -c "$build/fortran/op2jit.f90" || exit 1
  while [ $# -gt 1 ]; do
    random "$1" "$2"
    shift 2
  done
  exit $failed
fi
cp "$root/tests/fortran/jac.f90" "$root/tests/fortran/jac_kernels.F90" .
gfortran -O0 -c "$build/fortran/op2_fortran.f90" || exit 1
all='all loops that ran have their texts'
compile() { # NAME WORD...
  local name=$1
  shift
  "$@" -O1 jac_kernels.F90 jac.f90 op2_fortran.o -L"$build" -lop2jit -o "$name" >said 2>&1 || fail "$* compiles no program"
}
export OP2JIT_COMMAND=$build/runtime/cli/op2jit OP2JIT_LIBRARY=$build
compile plain gfortran
compile debug gfortran -g
compile embedded "$build/runtime/cli/op2jit-fc"
compile prints "$build/runtime/cli/op2jit-fc" -DPRINTS
compile twice "$build/runtime/cli/op2jit-fc" -DTWICE
compile speaks "$build/runtime/cli/op2jit-fc" -DSPEAKS
for name in jac_kernels.F90 jac.f90; do
  "$build/runtime/cli/op2jit-fc" -O1 -c $name -o ${name%.*}.o >said 2>&1 || fail "op2jit-fc -c $name"
done
gfortran -O1 jac.o jac_kernels.o op2_fortran.o -L"$build" -lop2jit -o joined || fail "an object with texts"
program "no debug information" plain 'compile with -g, or with op2jit-fc'
program "from debug information" debug "$all"
OP2_BACKEND=openmp OP2_THREADS=2 OP2_VARIANT=lean:chunks OP2_TIMING=text ./embedded >said 2>&1
grep -q '^lean .*chunks' said || fail "an internal procedure with a text runs on one thread"
# Not the program's source, though it looks so: its first calls show it, and the procedure runs on one thread.
sed -i 's/tilt\*u(1) + drop/tilt*u(1) - drop/' jac.f90
touch -d '-1 hour' jac.f90
program "another source" debug 'lean: the text found gives other results' OP2_THREADS=3
sed "s/'tilt'/'real(8)'/" "$root/tests/fortran/jac.f90" >jac.f90
compile unnamed "$build/runtime/cli/op2jit-fc"
program "a constant without a name" unnamed "lean: it names the variable 'tilt' of the main program.*call op_decl_const(tilt, 1, 'tilt')"
touch -d '+1 minute' jac_kernels.F90
program "a source that is younger" debug 'changed since the program was made'
rm jac_kernels.F90
for name in embedded joined; do program "from the program, $name" $name "$all"; done
program "in one word of it" speaks 'update: kernel update: `write` is not in the subset'
program "two of one name" twice 'lean: the text found gives other results' OP2_THREADS=2
program "it prints" prints "$all"
grep -qx ' 100% isn.t "all": 2 F 0.5 1.5' said || fail "a kernel prints something else"
program "no texts" embedded 'OP2_JIT=off' OP2_JIT=off
# The prover's finds are told in Fortran.
cat >add.f90 <<END
subroutine add(a, s, o)
  real(8), intent(in) :: a(3)
  real(8), intent(inout) :: s, o(3)
  s = a(1)
  o(1) = a(1)
  o(3) = a(2) !! and a comment
end subroutine
END
"$build/runtime/cli/op2jit" check add.f90 --kernel add 'dat double 3 OP_READ' 'gbl double 1 OP_INC' 'dat double 3 OP_WRITE' >said 2>&1
for words in 'add to it only, with `x = x + ...`' 'never writes component 2' 'component 1 of argument 2 becomes 1' '     4 |   s = a(1)$'; do
  grep -q -- "$words" said || fail "op2jit check does not say: $words"
done
# A file with its program may be given; it takes all constants in one list.
cat >bend.f90 <<END
module bends
  real(8) :: low, high
contains
  subroutine bend(a)
    real(8), intent(inout) :: a
    a = min(max(a, low), high)
  end subroutine
end module
! call op_par_loop(code, 'bend', ...)
END
check="$build/runtime/cli/op2jit check bend.f90 --kernel bend"
$check 'dat double 1 OP_RW' >said 2>&1
grep -q 'low is a variable of module bends' said || fail "op2jit check does not say which constant is missing"
! grep -q 'is a program' said || fail "op2jit check takes a program in Fortran for one in C"
$check --const 'low double 1, high double 1' 'dat double 1 OP_RW' | grep -q proved || fail "constants in one list"
$check --const 'low double 1' --const 'high double 1' 'dat double 1 OP_RW' >said 2>&1 || [ $? = 2 ] || fail "two lists of constants"
grep -q 'there is a second --const' said || fail "op2jit check drops a list of constants"
# In its words for types, too; a program's file is as good as another one.
cat >rate.f90 <<END
module m
  real(8) :: rate
contains
  subroutine add(a, s)
    real(8), intent(in) :: a
    real(8), intent(inout) :: s
    s = s + rate*a
  end subroutine
end module
call op_par_loop_2(add)
end
END
check() { "$build/runtime/cli/op2jit" check rate.f90 --kernel add --const "rate $1 1" 'dat real(8) 1 READ' 'gbl real*8 1 INC' >said 2>&1; }
check 'real(8)' && ! grep -v '^proved ' said || fail "types in Fortran's words"
check 'real(4)' && fail "a constant of another type passes"
grep -q 'op2jit: kernel add: op_decl_const declared rate with' said || fail "a constant of another type is not what is told first"
if [ -e "${OP2_CUDA_DRIVER:-}" ]; then
  OP2_BACKEND=cuda ./embedded >said 2>&1 || fail "on the stand-in for a GPU"
  grep -q '4210.68545675    2.05126953' said || fail "other numbers on the stand-in for a GPU"
fi
exit $failed

#!/bin/bash
# run.sh ROOT BUILD MODULES FILE... [-- OPTION...]: pytest on the files, with the package of this tree on the library of
# this build. Debian's Python runs it: it has Debian's packages. Status 77 with the reason where a module is missing.
set -u
root=$1 build=$2 modules=$3
shift 3
python=/usr/bin/python3
[ -x $python ] || {
  echo "skipped: there is no $python (Debian's python3)"
  exit 77
}
for module in $modules; do
  $python -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)" || {
    part=python
    case $module in petsc4py) part=petsc ;; nbconvert | ipykernel) part=notebook ;; esac
    echo "skipped: $python has no module $module; ./dev test --with $part installs it"
    exit 77
  }
done
export PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 OP2JIT_LIBRARY=$build/libop2jit.so OP2JIT_ROOT=$root OP2JIT_BUILD=$build
export OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg
cd "$root/tests/python" || exit 99
exec ${LAUNCH:-} $python -m pytest -q -p no:cacheprovider --no-header "$@"

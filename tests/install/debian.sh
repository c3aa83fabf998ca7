#!/bin/bash
# debian.sh ROOT [PLUGIN]: Debian's packages are built from a copy of the tree, lintian has nothing against them, and in a bare
# Debian (debootstrap's minbase in a chroot) apt installs them and they make and run a program: without and with the package of
# the compiler, with that of the solvers, and on two ranks. PLUGIN saves building the compiler, which is the slowest part.
set -u
root=$1 plugin=${2:-}
for tool in dpkg-buildpackage dh lintian; do
  command -v $tool >/dev/null || {
    echo "skipped: there is no $tool (Debian's dpkg-dev, debhelper, lintian); ./dev test --with packages installs them"
    exit 77
  }
done
pkg-config --exists PETSc || {
  echo "skipped: there is no PETSc (Debian's petsc-dev); ./dev test --with packages installs it"
  exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
failed() { # WORDS...: with the end of what was said
  echo "$*: $(tail -n 30 "$work/log")"
  exit 1
}
mkdir "$work/op2jit" && cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$work/op2jit" && cd "$work/op2jit" || exit 1
# Debug symbols are packed for minutes, and nobody looks at them here.
export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
OP2JIT_PLUGIN=$plugin dpkg-buildpackage -b -uc -us -d -j2 >"$work/log" 2>&1 || failed "the packages cannot be built"
cd "$work" || exit 1
ls ./*.deb
# A plugin that was built for no package has zlib in it, which the packages' own build takes from the system.
lintian --fail-on error,warning ${plugin:+--suppress-tags embedded-library} ./*.changes || exit 1
echo "lintian has nothing against them${plugin:+, but for zlib, which is linked into the plugin of another build}"

without_chroot() { # WHY: the packages in a folder of their own, with the libraries of this system
  echo "$1, so the packages are installed in a folder only"
  echo "[  SKIPPED ] in_a_bare_debian"
  bare=$work/folder
  mkdir -p "$bare/var/lib/dpkg/updates" "$bare/var/lib/dpkg/info" && : >"$bare/var/lib/dpkg/status" || exit 1
  into() {
    for package; do
      dpkg --root="$bare" --force-depends --force-not-root --log="$work/dpkg.log" -i "$work/$package"_*.deb >>"$work/log" 2>&1 ||
        failed "$package cannot be installed"
    done
  }
  within() {
    (cd "$work" && PATH="$bare/usr/bin:$PATH" LD_LIBRARY_PATH=$(dirname "$(find "$bare/usr/lib" -name libop2jit.so.0)") \
      PKG_CONFIG_SYSROOT_DIR=$bare PKG_CONFIG_PATH=$(dirname "$(find "$bare/usr/lib" -name op2jit.pc)") HOME=$work sh -c "$1")
  }
}

in_chroot() { # apt in the chroot brings what the packages depend on
  cp ./*.deb "$bare/srv" || exit 1
  into() {
    local files=() package
    for package; do
      case $package in
      *op2jit*) files+=("/srv/$(basename "$(echo "$work/$package"_*.deb)")") ;;
      *) files+=("$package") ;;
      esac
    done
    chroot "$bare" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${files[@]}" >>"$work/log" 2>&1 ||
      failed "${files[*]} cannot be installed"
  }
  within() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c "cd && $1"; }
  into gcc libc6-dev make pkg-config
}

bare=$work/bare
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  without_chroot "there is no debootstrap, or this is not root"
elif ! debootstrap --variant=minbase "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$bare" >"$work/log" 2>&1; then
  without_chroot "debootstrap fails ($(tail -n 1 "$work/log"))"
else
  in_chroot
fi
into libop2jit0 libop2jit-dev op2jit-tools
within 'op2jit new bar && cd bar && make' >"$work/log" 2>&1 || failed "no program can be begun"
within 'cd bar && OP2_BACKEND=native ./bar' | grep PASSED || exit 1
if within 'cd bar && OP2_BACKEND=seq ./bar' >"$work/log" 2>&1 || ! grep -q OP_ERR_ "$work/log"; then
  failed "without op2jit-clang a loop was compiled"
fi
# A chain of three springs, whose ends are fixed.
within 'cat >solve.c' <<'P'
#include <op2jit.h>
#include <stdio.h>
OP_KERNEL_DEF(
    spring, void spring(const double *w, double *a) {
      a[0] = a[3] = *w;
      a[1] = a[2] = -*w;
    })
int main(int argc, char **argv) {
  const int table[6] = {0, 1, 1, 2, 2, 3}, flags[4] = {1, 0, 0, 1};
  const double ones[3] = {1, 1, 1}, force[4] = {0, 1, 1, 0};
  double x[4] = {0};
  op_init(argc, argv, 1);
  op_set nodes = op_decl_set(4, "nodes"), springs = op_decl_set(3, "springs");
  op_map ends = op_decl_map(springs, nodes, 2, table, "ends");
  op_dat w = op_decl_dat(springs, 1, "double", ones, "w"), b = op_decl_dat(nodes, 1, "double", force, "b");
  op_dat u = op_decl_dat(nodes, 1, "double", NULL, "u"), fixed = op_decl_dat(nodes, 1, "int", flags, "fixed");
  op_mat k = op_decl_mat(1, &ends, &ends, 1, 1, "double", "k");
  op_fix_mat(k, fixed, fixed, 1);
  op_par_loop(OP_KERNEL_OF(spring), "spring", springs, op_arg_dat(w, -1, OP_ID, 1, "double", OP_READ),
              op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC));
  op_solve(k, b, u, "");
  op_fetch_data(u, x);
  printf("solved: %.3f %.3f\n", x[1], x[2]);
  return op_exit();
}
P
within 'gcc solve.c $(pkg-config --cflags --libs op2jit) -o solve' >"$work/log" 2>&1 || failed "no program with a matrix can be compiled"
if within 'OP2_BACKEND=native ./solve' >"$work/log" 2>&1 || ! grep -q 'OP_ERR_NOT_BUILT.*op2jit-petsc' "$work/log"; then
  failed "without op2jit-petsc a matrix was solved with"
fi
into op2jit-petsc
within 'op2jit info' | grep 'petsc-real' || failed "op2jit-petsc is not seen"
within 'OP2_BACKEND=native ./solve' >"$work/log" 2>&1
grep 'solved: 1.000 1.000' "$work/log" || failed "by op2jit-petsc"
into op2jit-clang
within 'cd bar && OP2_BACKEND=seq ./bar && op2jit cache ls flow' | grep -E 'PASSED|flow' || exit 1
into op2jit-mpi
within 'op2jit info' | grep -i 'mpi'
[ "$bare" = "$work/bare" ] || exit 0
into openmpi-bin
within 'cd bar && mpirun --allow-run-as-root --oversubscribe -n 2 ./bar OP2_TIMING=text' >"$work/log" 2>&1
grep -q PASSED "$work/log" || failed "on two ranks"
grep '2 ranks' "$work/log" || failed "not on two ranks"

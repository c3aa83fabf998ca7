#!/bin/bash
# bare.sh ROOT BUILD: what docs/python.md says of installing works as it is written in a bare Debian (debootstrap's minbase in a
# chroot): its commands are taken from the page. The build of the library is the one that there is.
set -u
root=$1 build=$2
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "skipped: there is no debootstrap, or this is not root; ./dev test --with packages installs it"
  exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
failed() { # WORDS...: with the end of what was said
  echo "$*: $(tail -n 30 "$work/log")"
  exit 1
}
bare=$work/bare
debootstrap --variant=minbase "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$bare" >"$work/log" 2>&1 || {
  echo "skipped: debootstrap fails ($(tail -n 1 "$work/log"))"
  exit 77
}
within() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -ec "cd /srv/op2jit && $1" >>"$work/log" 2>&1; }
# The tree, and of the build what is installed.
mkdir -p "$bare/srv/op2jit/build/runtime" "$bare/srv/op2jit/build/jit/clang" || exit 1
(cd "$root" && git ls-files -z python | xargs -0 cp --parents -t "$bare/srv/op2jit") || exit 1
cp -L "$build/libop2jit.so.0" "$bare/srv/op2jit/build/" && cp "$build"/jit/clang/op2jit-clang.so "$bare/srv/op2jit/build/jit/clang/" || exit 1
# The page: the packages, and the commands behind ./dev build.
lines() { awk '/^## Installing/ { on = 1 } /^## Sets/ { on = 0 } on && /^    / { sub(/^    /, ""); print }' "$root/docs/python.md"; }
packages=$(lines | sed -n 's/^apt install //p')
[ -n "$packages" ] || failed "the page names no packages"
within "apt-get install -y --no-install-recommends $packages libsqlite3-0 libzstd1 libc6-dev" || failed "the packages cannot be installed"
lines | grep -vE '^apt |^\./dev ' | grep -v '^OP2JIT_RELEASE' >"$bare/srv/op2jit/commands" || failed "the page has no commands"
cat "$bare/srv/op2jit/commands"
within ". ./commands" || failed "the page's commands fail"
cat >"$bare/srv/program.py" <<'P'
import numpy as np, op2jit, sys
@op2jit.kernel
def more(x, total):
    total[0] += 2 * x[0]
with op2jit.runtime(backend=sys.argv[1], diags=0):
    s = op2jit.Set(10)
    total = op2jit.Global(0.0)
    op2jit.par_loop(more, s, op2jit.Dat(s, np.arange(10.0))(op2jit.READ), total(op2jit.INC))
    print(op2jit.__file__, total.value)
P
for backend in native seq openmp; do
  within "cd /srv && op2jit/site/bin/python program.py $backend" || failed "no program runs on $backend"
  tail -n 1 "$work/log" | grep '/srv/op2jit/site/.* 90.0$' || failed "on $backend"
done

# shellcheck shell=bash
# ./dev test --with arm: the library for aarch64, built by a cross compiler and run under qemu (docs/ports.md). Kernels are
# compiled by this machine's clang, which a plugin for tests asks (tests/arm). Sourced by ./dev.

ARM=$STATE/arm # a sysroot, and what meson needs to know of it

# Their packages for arm64 cannot be installed beside this machine's. They are unpacked, and apt's lists for them are kept here.
ARM_PACKAGES='libsqlite3-0 libsqlite3-dev libzstd1 libzstd-dev zlib1g zlib1g-dev libcmocka0 libcmocka-dev libsleef3'

arm_missing() { # what must be installed, a line each
  local tool
  for tool in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user apt-get:apt dpkg:dpkg; do
    command -v "${tool%%:*}" >/dev/null || say "${tool#*:}"
  done
  [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || say libc6-dev-arm64-cross
}

arm_apt() { # ARGUMENT...: apt for arm64, whose state is in this folder alone
  apt-get -q -o Dir::State="$ARM/apt" -o Dir::State::status="$ARM/apt/status" -o Dir::Cache="$ARM/apt/cache" \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none \
    -o Acquire::Retries=2 "$@"
}

arm_unpack() { # the packages into the sysroot
  local package
  mkdir -p "$ARM/apt/lists/partial" "$ARM/apt/cache/archives/partial" "$ARM/debs" "$ARM/root" || return 1
  : >"$ARM/apt/status"
  # shellcheck disable=SC2086 # a list of words
  arm_apt update && (cd "$ARM/debs" && arm_apt download $ARM_PACKAGES) || return 1
  for package in "$ARM"/debs/*.deb; do dpkg -x "$package" "$ARM/root" || return 1; done
  say "$ARM_PACKAGES" >"$ARM/unpacked"
}

arm_files() { # what meson asks: the compilers, and how programs run
  local libraries=$ARM/root/usr/lib/aarch64-linux-gnu
  cat >"$ARM/run" <<END
#!/bin/sh
# A program for aarch64 on the processor that OP2JIT_ARM_CPU names.
exec qemu-aarch64 -cpu "\${OP2JIT_ARM_CPU:-max,sve=off}" -L /usr/aarch64-linux-gnu "\$@"
END
  chmod +x "$ARM/run"
  cat >"$ARM/cross.new" <<END
[binaries]
c = [$(command -v ccache >/dev/null && printf "'ccache', ")'aarch64-linux-gnu-gcc']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
objdump = 'aarch64-linux-gnu-objdump'
pkgconfig = 'pkg-config'
exe_wrapper = '$ARM/run'
[built-in options]
c_args = ['-g1', '-isystem', '$ARM/root/usr/include']
c_link_args = ['-Wl,-rpath,$libraries', '-Wl,-rpath,$ARM/root/lib/aarch64-linux-gnu', '-L$libraries', '-L$ARM/root/lib/aarch64-linux-gnu']
[properties]
sys_root = '$ARM/root'
pkg_config_libdir = '$libraries/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
  cmp -s "$ARM/cross.new" "$ARM/cross.ini" || rm -f build-arm/dev-stamp # meson does not look at it again
  mv "$ARM/cross.new" "$ARM/cross.ini"
  aarch64-linux-gnu-gcc -std=gnu17 -O1 -D_GNU_SOURCE -shared -fPIC -I "$ROOT" -DNEAR="\"$ROOT/build/tests/arm/near\"" \
    "$ROOT/tests/arm/far.c" -o "$ARM/op2jit-clang.so"
}

arm_ready() { # the sysroot, and the compiler that runs here
  mkdir -p "$ARM" || return 1
  if [ "$(cat "$ARM/unpacked" 2>/dev/null)" != "$ARM_PACKAGES" ]; then
    step "setup: unpack packages for arm64" arm-packages arm_unpack || return 1
  fi
  build build jit/clang/op2jit-clang-both.so tests/arm/near && step "configure for aarch64" arm-files arm_files
}

test_arm() {
  local missing
  missing=$(arm_missing | xargs)
  if [ -n "$missing" ]; then
    say "left out: tests for aarch64, for $missing is not installed"
    return
  fi
  if configure build && ! grep -qF op2jit-clang-both build/build.ninja; then
    say "left out: tests for aarch64, for there is no plugin that makes code for it (Debian: clang-19, llvm-19-dev, libclang-19-dev)"
    return
  fi
  if arm_ready && built build-arm tests; then test_all_suites build-arm; else BROKEN+=(build-arm); fi
}

# shellcheck shell=bash
# ./dev test --with arm: the library for aarch64, built by a cross compiler and run under qemu (docs/ports.md). Kernels are
# compiled by this machine's clang, which a plugin for tests asks (tests/arm). Sourced by ./dev.

ARM=$STATE/arm # a sysroot, and what meson needs to know of it

# Their packages for arm64 cannot be installed beside this machine's. They are unpacked, and apt's lists for them are kept here.
ARM_PACKAGES='libsqlite3-0 libsqlite3-dev libzstd1 libzstd-dev zlib1g zlib1g-dev libcmocka0 libcmocka-dev libsleef3'
# What clang and LLVM themselves need there.
ARM_CLANG_PACKAGES='libedit2 libffi8 libz3-4 libtinfo6 libxml2 libicu72 liblzma5 libbsd0 libmd0'

arm_missing() { # what must be installed, a line each
  local tool
  for tool in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64:qemu-user apt-get:apt dpkg:dpkg; do
    command -v "${tool%%:*}" >/dev/null || say "${tool#*:}"
  done
  [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || say libc6-dev-arm64-cross
}

arm_apt() { # ARGUMENT...: apt for arm64, whose state is in this folder alone
  apt-get -q -o Dir::State="$ARM/apt" -o Dir::State::status="$ARM/apt/status" -o Dir::Cache="$ARM/apt/cache" \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Acquire::Languages=none \
    -o Acquire::Retries=2 "$@"
}

arm_unpack() { # PACKAGE...: into the sysroot
  local package
  rm -rf "$ARM/debs" && mkdir -p "$ARM/apt/lists/partial" "$ARM/apt/cache/archives/partial" "$ARM/debs" "$ARM/root" || return 1
  : >"$ARM/apt/status"
  arm_apt update && (cd "$ARM/debs" && arm_apt download "$@") || return 1
  for package in "$ARM"/debs/*.deb; do dpkg -x "$package" "$ARM/root" || return 1; done
}

arm_sysroot() { # FILE PACKAGE...: unpacked once, which the file says
  local unpacked=$ARM/$1
  shift
  [ "$(cat "$unpacked" 2>/dev/null)" = "$*" ] && return 0
  mkdir -p "$ARM" && step "setup: unpack packages for arm64" arm-packages arm_unpack "$@" && say "$*" >"$unpacked"
}

arm_files() { # what meson asks: the compilers, and how programs run
  local libraries=$ARM/root/usr/lib/aarch64-linux-gnu cache='' link
  command -v ccache >/dev/null && cache="'ccache', "
  link="'-Wl,-rpath,$libraries', '-Wl,-rpath,$ARM/root/lib/aarch64-linux-gnu', '-L$libraries', '-L$ARM/root/lib/aarch64-linux-gnu'"
  cat >"$ARM/run" <<END
#!/bin/sh
# A program for aarch64 on the processor that OP2JIT_ARM_CPU names.
exec qemu-aarch64 -cpu "\${OP2JIT_ARM_CPU:-max,sve=off}" -L /usr/aarch64-linux-gnu \\
  -E LD_LIBRARY_PATH='$libraries:$ARM/root/lib/aarch64-linux-gnu' "\$@"
END
  chmod +x "$ARM/run"
  cat >"$ARM/cross.new" <<END
[binaries]
c = [$cache'aarch64-linux-gnu-gcc']
cpp = [$cache'aarch64-linux-gnu-g++']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
objdump = 'aarch64-linux-gnu-objdump'
pkgconfig = 'pkg-config'
exe_wrapper = '$ARM/run'
[built-in options]
c_args = ['-g1', '-isystem', '$ARM/root/usr/include']
c_link_args = [$link]
cpp_link_args = [$link]
[properties]
run = '$ARM/run'
clang = '$ROOT/build-arm-clang/jit/clang'
sys_root = '$ARM/root'
pkg_config_libdir = '$libraries/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
  cmp -s "$ARM/cross.new" "$ARM/cross.ini" || rm -f build-arm*/dev-stamp # meson does not look at it again
  mv "$ARM/cross.new" "$ARM/cross.ini"
  aarch64-linux-gnu-gcc -std=gnu17 -O1 -D_GNU_SOURCE -shared -fPIC -I "$ROOT" -I "$ROOT/include" -I "$ROOT/build" \
    -DNEAR="\"$ROOT/build/tests/arm/near\"" "$ROOT/tests/arm/far.c" "$ROOT/jit/clang/note.c" -o "$ARM/op2jit-clang.so"
}

arm_ready() { # the sysroot, and the compiler that runs here
  # shellcheck disable=SC2086 # a list of words
  arm_sysroot unpacked $ARM_PACKAGES &&
    build build jit/clang/op2jit-clang-both.so tests/arm/near && step "configure for aarch64" arm-files arm_files
}

# With --long the compiler plugin itself, on clang's libraries for arm64. Its headers are the same for all processors.
arm_clang_ready() {
  local major folder
  [ "$LONG" = yes ] || return 0
  major=$(sed -n 's/.*"clang \([0-9]*\).*/\1/p' build/jit/clang/words.h)
  folder=$ARM/root/usr/lib/llvm-$major/lib
  # shellcheck disable=SC2086 # a list of words
  arm_sysroot unpacked-clang "libclang-cpp$major" "libllvm$major" $ARM_CLANG_PACKAGES || return 1
  ln -sfn "../../aarch64-linux-gnu/libLLVM-$major.so" "$folder/" || return 1 # as the package for development has it
  cat >"$ARM/llvm-config" <<END
#!/bin/sh
# What meson asks: libraries for aarch64, all else as on this machine.
[ "\$1" != --libdir ] || exec echo '$folder'
exec llvm-config-$major "\$@"
END
  chmod +x "$ARM/llvm-config"
  build build-arm-clang jit/clang/op2jit-clang.so
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
  if arm_ready && arm_clang_ready && built build-arm tests; then test_all_suites build-arm; else BROKEN+=(build-arm); fi
}

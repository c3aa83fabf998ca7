# shellcheck shell=bash
# ./dev gpu: what a machine with a GPU is asked, made ready on a machine without one. Sourced by ./dev.

gpu_libraries() { # PROGRAM...: the libraries that they load, without the C library's own
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(ld-linux|libc|libm|libdl|librt|libpthread|libresolv)[-.]'
}

# Programs, the libraries they need, and the script: a folder that runs wherever the C library is not older than here.
gpu_pack() { # FOLDER [BUILD]
  local folder=$1 build=${2:-build} programs=() name
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/lib" || return 1
  programs=("$build"/runtime/cli/op2jit "$build"/bench/cuda_one "$build"/bench/forms "$build"/tests/property/property "$build"/tests/kernels/test_kernels
    "$build"/tests/shadow/test_shadow "$build"/tests/cuda/test_cuda_{backend,counts,graphs,increments,language,layout,near,results,rows,waits})
  for name in arguments reductions floating data globals kernels types launch ragged fused; do
    programs+=("$build/tests/api/test-api-$name")
  done
  for name in airfoil heat jac shallow_water multigrid aero airfoil_hydra adjoint sums temporaries; do programs+=("$build/bench/turns_$name"); done
  while read -r name _; do
    if [ -x "$build/samples/$name" ]; then programs+=("$build/samples/$name"); else programs+=("$build/tests/samples/$name"); fi
  done <"$build"/tests/cuda/samples.txt
  cp "$build"/bench/spmv_rows "$folder/bin/spmv_bench" && cp "$build"/tests/cuda/samples.txt bench/cuda/twins.cu bench/gpu/forms.cu "$folder" && cp tests/cuda/day.sh "$folder/run.sh" &&
    cp -L "${programs[@]}" "$folder/bin" || return 1
  # shellcheck disable=SC2046 # names without blanks
  cp -L "$build"/libop2jit.so.0 $(gpu_libraries "${programs[@]}" "$build"/libop2jit.so.0 | grep -v libop2jit) "$folder/lib" || return 1
  strip --strip-unneeded "$folder"/bin/* "$folder"/lib/*
  cp samples/*/*_kernels.h tests/api/*.h "$folder/bin" || return 1 # where programs look for their kernels
  # What is known so far, to compare with there.
  cp -r bench/results/*-h100 "$folder/known" && cp docs/gpu.md "$folder/known" || return 1
  [ "$(du -sm "$folder" | cut -f1)" -le 64 ] || fail "$folder is larger than 64 MB, which is what can be carried"
  say "$folder: $(du -sm "$folder" | cut -f1) MB; on the machine with the GPU: OUT=results $folder/run.sh day"
}

# The whole day on the stand-in, small: no minute of a GPU is to be lost to a mistake in a script.
gpu_rehearse() { # FOLDER
  local tests=$ROOT/build/tests/cuda
  OP2_CUDA_DRIVER=$tests/libstandin_cuda.so OP2_NVRTC=$tests/libstandin_nvrtc.so STANDIN_CACHE=$ROOT/build/standin-cache \
    STANDIN_DEPENDENT=1 DAY_SIZE=small OUT=$STATE/gpu-rehearsal "$1/run.sh"
}

gpu() {
  local what=${1:-} folder=${2:-$STATE/gpu}
  case $what in
  pack | rehearse | run) ;;
  *) usage gpu "expected ./dev gpu pack, rehearse or run" ;;
  esac
  [ $# -le 2 ] || usage gpu "./dev gpu does not know '$3'"
  setup
  build build || exit 1
  gpu_pack "$folder" || fail "the folder $folder could not be made"
  case $what in
  rehearse) gpu_rehearse "$folder" ;;
  run) OUT=${OUT:-$ROOT/bench/results/$(date -u +%F)-gpu} "$folder/run.sh" ;;
  esac
}

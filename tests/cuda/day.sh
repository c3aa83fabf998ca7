#!/bin/bash
# day.sh [--list] [correct|sanitize|speed|profile]...: what a machine with a GPU is asked, from a folder that `./dev gpu pack` made;
# without a word all of it. --list names the checks with their limits and runs nothing. The machine needs NVIDIA's driver and NVRTC, nothing to build with. Files go to $OUT (out/ here):
# correct.txt and sanitize.txt with a line for each check, cuda.txt and cuda.json with the figures, log.txt with the rest.
# Settings: DAY_SIZE=small (a rehearsal on the stand-in), DAY_JOBS checks at a time.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
list=no
[ "${1:-}" != --list ] || { list=yes && shift; }
cores=$(nproc)
jobs=${DAY_JOBS:-$((cores < 12 ? cores : 12))}
size=${DAY_SIZE:-full}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ $list = yes ] || mkdir -p "$out" || exit 1
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} OP2_BACKEND=cuda
export PATH=$PATH:/usr/local/cuda/bin
# Where containers get the driver from, if the linker does not know it.
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && [ -e /usr/local/nvidia/lib64/libcuda.so.1 ]; then
  LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/local/nvidia/lib64
fi
# Python's wheels have NVRTC too, wherever this Python keeps them.
if [ -z "${OP2_NVRTC:-}" ] && ! ldconfig -p 2>/dev/null | grep -q libnvrtc; then
  found=$(python3 -c 'import glob, sysconfig
print("\n".join(glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib/libnvrtc.so.1?")))' 2>/dev/null | head -n 1)
  [ -z "$found" ] || export OP2_NVRTC=$found
fi
bad=0

plan() { # NAME SECONDS COMMAND...: what would run
  local name=$1 limit=$2
  shift 2
  printf '%-40s %4d s at most: %s%s\n' "$name" "$limit" "${OP2_VARIANT:+OP2_VARIANT=$OP2_VARIANT }" "${*//"$here"\//}"
}

# check NAME SECONDS COMMAND...: runs beside others; a line says how it went, and the log has what it said.
check() {
  local name=$1 limit=$2 status start=$SECONDS
  shift 2
  timeout -k 5 "$limit" "$@" >"$work/$name.log" 2>&1
  status=$?
  case $status in
  0) echo "PASS $name ($((SECONDS - start)) s)" ;;
  *) echo "FAIL $name (status $status, $((SECONDS - start)) s): $(grep -v '^$' "$work/$name.log" | tail -n 1 | cut -c1-200)" ;;
  esac >"$work/$name.line"
}

later() { # the same, as soon as one of the places is free
  if [ $list = yes ]; then
    plan "$@"
    return
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  check "$@" &
}

gather() { # FILE: all lines so far into the file and to the screen, all logs behind one another
  [ $list = no ] || return
  wait
  cat "$work"/*.line 2>/dev/null | sort | tee "$out/$1"
  local file
  for file in "$work"/*.log; do
    [ ! -f "$file" ] || { echo "==== ${file##*/}"; tail -c 20000 "$file"; } >>"$out/log.txt"
  done
  ! grep -q '^FAIL' "$out/$1" || bad=1
  rm -f "$work"/*.line "$work"/*.log
}

machine() {
  date -u
  nvidia-smi 2>/dev/null | head -n 15
  "$here/bin/op2jit" info
}

strategies='atomics/128/vectors staged/128/vectors blocks/128 colours/128/vectors apart/128/vectors whole/128/sorted'

# Every construct, every call, every sample, every strategy over random loops: the answers are checked by each program itself, against
# its own interpreter or another implementation on the host.
correct() {
  local cases=40 airfoil=(--cells 720000 --iters 1000) seed=1 variant layout program
  [ "$size" = full ] || { cases=1 airfoil=(--cells 1500 --iters 3) && export OP2_TUNE=off; }
  export OP2_CACHE=off
  later machine 60 "$here/bin/op2jit" info
  OP2_TUNE=off later kernels 200 "$here/bin/test_kernels"
  for program in "$here"/bin/test-api-*; do later "${program##*/}" 250 "$program"; done
  later shadow-native 100 "$here/bin/test_shadow" native cuda
  later shadow-cuda 100 "$here/bin/test_shadow" cuda native
  later airfoil-published 200 "$here/bin/airfoil" "${airfoil[@]}"
  while read -r program arguments; do
    # shellcheck disable=SC2086 # words
    later "sample-$program" 250 "$here/bin/$program" $arguments
  done <"$here/samples.txt"
  for variant in $strategies; do
    for layout in aos soa; do
      later "property-${variant//\//-}-$layout" 250 "$here/bin/property" --backend cuda --cases $cases --seed $seed \
        --variant "$variant/$layout"
      seed=$((seed + 1))
    done
  done
  later property-mirrored 250 "$here/bin/property" --backend cuda --cases $cases --seed 99 --mirrored 1
  gather correct.txt
}

# NVIDIA's own checkers, where the machine lets them: it refuses some of them under some hypervisors.
sanitize() {
  local tool variant
  export OP2_CACHE=off OP2_TUNE=off
  if [ $list = yes ]; then
    echo "(where compute-sanitizer works)"
  elif ! command -v compute-sanitizer >/dev/null; then
    echo "NOT RUN: there is no compute-sanitizer here" | tee "$out/sanitize.txt"
    return
  elif ! timeout 120 compute-sanitizer "$here/bin/vadd" --size 3000 >"$work/try.log" 2>&1; then
    { echo "NOT RUN: compute-sanitizer does not work here:"; tail -n 5 "$work/try.log"; } | tee "$out/sanitize.txt"
    return
  fi
  for tool in memcheck racecheck initcheck synccheck; do
    for variant in $strategies; do
      OP2_VARIANT=$variant later "$tool-airfoil-${variant//\//-}" 100 compute-sanitizer --tool $tool --error-exitcode 1 \
        "$here/bin/airfoil" --cells 1500 --iters 2
      OP2_VARIANT=$variant later "$tool-jac-${variant//\//-}" 100 compute-sanitizer --tool $tool --error-exitcode 1 \
        "$here/bin/jac" --n 20 --iters 2
    done
  done
  gather sanitize.txt
}

small=(--cells 300 --large 0 --side 8 --rows 300 --repeats 2 --warm 1 --seconds 0.01)

speed() {
  local options=()
  [ "$size" = full ] || options=("${small[@]}")
  if [ $list = yes ]; then
    plan speed 500 "$here/bin/cuda_one" --source "$here/twins.cu" --json "$out/cuda.json" ${options[@]+"${options[@]}"}
    return
  fi
  machine >"$out/cuda.txt" 2>&1
  unset OP2_CACHE OP2_TUNE
  timeout -k 5 500 "$here/bin/cuda_one" --source "$here/twins.cu" --json "$out/cuda.json" --cache "$work/kernels.db" \
    ${options[@]+"${options[@]}"} 2>>"$out/log.txt" | tee -a "$out/cuda.txt"
  [ "${PIPESTATUS[0]}" -eq 0 ] || { bad=1 && echo "FAIL speed"; }
}

# What the hardware counts for airfoil's kernels, where it can be asked.
profile() {
  if [ $list = yes ]; then
    echo "(where ncu works)"
    plan profile 200 ncu "$here/bin/airfoil" --cells 720000 --iters 3
    return
  fi
  command -v ncu >/dev/null || { echo "NOT RUN: there is no ncu here" | tee "$out/profile.txt" && return; }
  OP2_CACHE=off OP2_TUNE=off timeout 200 ncu --clock-control none --kernel-name-base function --kernel-name regex:op2_loop \
    --launch-skip 9 --launch-count 9 --section SpeedOfLight --section MemoryWorkloadAnalysis --section Occupancy \
    "$here/bin/airfoil" --cells 720000 --iters 3 >"$out/profile.txt" 2>&1 || echo "NOT RUN: ncu failed: $(tail -n 1 "$out/profile.txt")"
}

[ $# -gt 0 ] || set -- correct sanitize speed profile
[ $list = yes ] || : >"$out/log.txt"
for part in "$@"; do
  echo "== $part"
  case $part in
  correct) correct ;;
  sanitize) sanitize ;;
  speed) speed ;;
  profile) profile ;;
  *)
    echo "day.sh: there is no part '$part'; there are: correct sanitize speed profile"
    exit 2
    ;;
  esac
done
exit $bad

#!/usr/bin/env python3
"""layout.py BUILD [--quick]: would samples gain on a GPU if a dat had its components apart?

Nothing is timed. Each sample runs on the stand-in with rows, once more for each dat of several components with that dat
apart (OP2_VARIANT=soa=DAT), and with all apart. The library counts what each form of each loop asks of an H100's L2 cache
and memory (OP2_LOG=debug,tune). A loop takes the longer of both by its best form; a run is the sum over all calls of its
loops. Launches are left out: they are the same. Loops that have one form only are not counted, and are named. Rows of 16 values and more
are taken to leave the L1 before a thread has read all of them, so that what is said of them is the most that could be saved.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = [
    ("airfoil", "--cells 20000 --iters 2"),
    ("jac", "--n 120 --iters 2"),
    ("aero", "--n 24"),
    ("airfoil_hydra", "--n 16 --iters 2"),
    ("airfoil_hydra", "--n 28 --iters 1"),
    ("multigrid", "--side 32 --cycles 2"),
    ("heat", "--n 150"),
    ("laplace", "--n 60"),
    ("shallow_water", "--m 128 --steps 2"),
    ("jacobi_dense", "--n 150"),
    ("jacobi_dense", "--n 600"),
    ("transport", "--n 24 --end 0.02"),
    ("adjoint", "--n 20"),
    ("spmv", "--rows 5000"),
    ("polygons", "--n 60"),
    ("reduction", "--size 20000"),
    ("vadd", "--size 20000"),
]
QUICK = [("airfoil", "--cells 1500 --iters 1"), ("shallow_water", "--m 8 --steps 2")]
WORTH = 0.05
COUNTED = re.compile(r"loop (\S+), variant (\S+): by its counts .* us \(the L2 takes (\S+) us, memory (\S+) us")


def counted_loops(log):
    """[(loop, seconds of its best form)] in the order of the loops' first calls."""
    loops, seen = [], set()
    for name, variant, cache, memory in COUNTED.findall(log):
        if not loops or loops[-1][0] != name or variant in seen:
            loops.append([name, float("inf")])
            seen = set()
        seen.add(variant)
        if not variant.startswith("staged"):  # which waits for more than this
            loops[-1][1] = min(loops[-1][1], max(float(cache), float(memory)))
    return loops


def run(program, arguments, layout, work):
    report = work / "report.json"
    variables = {"OP2_BACKEND": "cuda", "OP2_CACHE": "off", "OP2_LOG": "debug,tune", "OP2_TIMING": f"json:{report}", "OP2_VARIANT": layout}
    done = subprocess.run([program, *arguments.split()], env=os.environ | variables, capture_output=True, text=True, timeout=500)
    if done.returncode and "is ragged" in done.stderr:  # whose rows stay whole
        return None
    if done.returncode:
        sys.exit(f"{program.name} {arguments}, OP2_VARIANT={layout}: status {done.returncode}\n{done.stderr[-2000:]}")
    return counted_loops(done.stderr + done.stdout), json.loads(report.read_text())["loops"]


def of_a_run(counted, loops):
    """Microseconds of all calls, and the loops that were not counted."""
    known, total, missing = {}, 0.0, []
    for name, seconds in counted:
        known.setdefault(name, []).append(seconds)
    for loop in loops:
        mine = known.get(loop["name"])
        if mine:
            total += loop["calls"] * (mine.pop(0) if len(mine) > 1 else mine[0])
        else:
            missing.append(loop["name"])
    return total, missing


def dats_of(loops):
    found = {}
    for loop in loops:
        for argument in loop["arguments"]:
            words = re.match(r"(\S+), (\d+) \S+, OP_", argument)
            if words and int(words[2]) > 1:
                found[words[1]] = int(words[2])
    return found


def look_at(program, arguments, work):
    counted, loops = run(program, arguments, "", work)
    total, missing = of_a_run(counted, loops)
    gains = []
    dats = dats_of(loops)
    for layout in [f"soa={dat}" for dat in dats] + (["soa"] if len(dats) > 1 else []):
        ran = run(program, arguments, layout, work)
        if not ran:
            continue
        apart, _ = of_a_run(*ran)
        gains.append((1 - apart / total if total else 0, layout))
    return total, missing, sorted(gains, reverse=True)


def main():
    build, quick = Path(sys.argv[1]).resolve(), "--quick" in sys.argv[2:]
    standin = build / "tests/cuda"
    os.environ |= {"OP2_CUDA_DRIVER": str(standin / "libstandin_cuda.so"), "OP2_NVRTC": str(standin / "libstandin_nvrtc.so"),
                   "STANDIN_CACHE": os.environ.get("STANDIN_CACHE", str(build / "standin-cache")), "STANDIN_MODE": "fast"}
    print(f"{'sample':<34} {'us':>9}  {'the best':<16} {'saves':>7}  all apart  not counted")
    worth = []
    with tempfile.TemporaryDirectory() as work:
        for name, arguments in QUICK if quick else SAMPLES:
            program = build / "samples" / name
            if not program.exists():
                print(f"{name:<34} is not built here")
                continue
            total, missing, gains = look_at(program, arguments, Path(work))
            best = gains[0] if gains else (0, "(no rows)")
            everything = next((f"{gain:9.1%}" for gain, layout in gains if layout == "soa"), f"{'':9}")
            label = f"{name} {arguments}"
            print(f"{label:<34} {total:9.2f}  {best[1]:<16} {best[0]:7.1%}  {everything}  {' '.join(dict.fromkeys(missing))}", flush=True)
            worth += [label] if best[0] > WORTH else []
    print(f"more than {WORTH:.0%} a run: {', '.join(worth) or 'none'}")


main()

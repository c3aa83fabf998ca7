"""python.py BUILD [CELLS [ITERATIONS [TURNS]]]: what Python costs. Microseconds of processor time of one call of a warm
loop over one element, by arguments; then airfoil in Python and in C in turns: the seconds of their loops, and the ratio."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCH, BATCHES = 2000, 21


def call_costs():
    import op2jit
    from op2jit import INC, READ

    def cost(call):
        found = []
        for _ in range(BATCHES):
            begun = time.process_time()
            for _ in range(BATCH):
                call()
            found.append((time.process_time() - begun) / BATCH * 1e6)
        return statistics.median(found), min(found)

    print("arguments   par_loop: median  least   Loop: median  least   (microseconds)")
    with op2jit.runtime(diags=0, backend="seq", threads=1, tune="off"):
        s = op2jit.Set(1)
        step = op2jit.Map(s, s, [0])
        for count in (1, 2, 4, 8, 16):
            dats = [op2jit.Dat(s, np.ones(1)) for _ in range(count)]
            heads = ", ".join(f"{'const ' * (k > 0)}double *x{k}" for k in range(count))
            text = op2jit.Kernel(f"void k{count}({heads}) {{ *x0 += 1; }}")
            loop = op2jit.Loop(text, s, dats[0](INC), *[dat(READ, step[0]) for dat in dats[1:]])

            def call():
                op2jit.par_loop(text, s, dats[0](INC), *[dat(READ, step[0]) for dat in dats[1:]])

            call()
            one, other = cost(call), cost(loop)
            print(f"{count:9}   {one[0]:16.2f}  {one[1]:5.2f}   {other[0]:12.2f}  {other[1]:5.2f}", flush=True)


def seconds_of(command, report):
    said = subprocess.run([*command, f"OP2_TIMING=json:{report}"], stdout=subprocess.PIPE, text=True, check=True)
    assert "PASSED" in said.stdout, said.stdout
    with open(report) as file:
        return sum(row["seconds"] for row in json.load(file)["loops"])


def airfoil(build, cells, iterations, turns):
    words = ["--cells", str(cells), "--iters", str(iterations)]
    programs = {
        "C": [os.path.join(build, "samples", "airfoil"), *words],
        "Python": [sys.executable, os.path.join(ROOT, "samples", "airfoil", "airfoil.py"), *words],
    }
    found = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OP2_CACHE"] = os.path.join(folder, "kernels.db")
        for turn in range(turns + 1):
            for name, command in programs.items():
                seconds = seconds_of(command, os.path.join(folder, "report.json"))
                if turn:  # the first one compiles
                    found[name].append(seconds)
    print(f"airfoil, {cells} cells, {iterations} iterations: seconds of all loops in {turns} turns")
    for name, values in found.items():
        print(f"  {name:7} median {statistics.median(values):7.3f}   {min(values):7.3f} .. {max(values):7.3f}")
    ratios = [python / c for python, c in zip(found["Python"], found["C"])]
    least = min(found["Python"]) / min(found["C"])
    print(
        f"  Python / C: median {statistics.median(ratios):.3f}   {min(ratios):.3f} .. {max(ratios):.3f}; of the least {least:.3f}"
    )


if __name__ == "__main__":
    call_costs()
    airfoil(sys.argv[1], *[int(word) for word in (sys.argv[2:] + ["720000", "30", "7"][len(sys.argv) - 2 :])])

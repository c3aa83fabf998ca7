"""Ranks against threads: the airfoil sample on 1 rank, on 1 rank with 2 threads and on 2 ranks, in turns, so that a busy
machine slows all of them alike. Times are medians; the ratio is to 1 rank with 2 threads.

  ./dev bench mpi      CELLS=720000 ITERS=30 ROUNDS=3 KINDS="openmpi mpich" change what is run
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

CELLS = os.environ.get("CELLS", "720000")
ITERS = os.environ.get("ITERS", "30")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
FORMS = [(1, 1), (1, 2), (2, 1)]  # ranks, threads


def run(build, kind, ranks, threads, folder):
    """One run: seconds of an iteration, of exchanging and waiting in one, of parting the mesh."""
    report = os.path.join(folder, "report.json")
    script = os.path.join(os.path.dirname(__file__), "..", "tests", "mpi", "run.sh")
    command = ["bash", script, kind, str(ranks), os.path.join(build, "samples", "airfoil"), "--cells", CELLS,
               "--iters", ITERS, f"OP2_THREADS={threads}", f"OP2_CACHE={folder}/kernels.db",
               f"OP2_TIMING=json:{report}"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OP2_TEST_SECONDS": "600"})
    if done.returncode == 77:
        return None
    if done.returncode or "airfoil: PASSED" not in done.stdout:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    later = float(re.search(r"op2jit, the others +([0-9.]+)", done.stdout).group(1)) * 1e-3
    parted = re.search(r"parted over the ranks in ([0-9.]+) s", done.stdout)
    with open(report, encoding="utf-8") as file:
        loops = json.load(file)["loops"]
    total = lambda name: sum(loop.get(name, 0) for loop in loops)
    return {"iteration": later, "exchange": total("exchange_seconds") / int(ITERS),
            "waiting": total("waiting_seconds") / int(ITERS), "bytes": total("bytes_sent") / int(ITERS),
            "messages": total("messages") / int(ITERS), "parted": float(parted.group(1)) if parted else 0}


def measure(build, kind):
    with tempfile.TemporaryDirectory() as folder:
        if any(run(build, kind, ranks, threads, folder) is None for ranks, threads in FORMS):
            return None  # and the kernels are in the cache now
        results = {form: [] for form in FORMS}
        for _ in range(ROUNDS):
            for form in FORMS:
                results[form].append(run(build, kind, *form, folder))
    middle = lambda form, name: statistics.median(r[name] for r in results[form])
    return {form: {name: middle(form, name) for name in results[form][0]} for form in FORMS}


def main():
    build = sys.argv[1]
    print(f"airfoil, {CELLS} cells, {ITERS} iterations, median of {ROUNDS} rounds in turns")
    for kind in os.environ.get("KINDS", "openmpi mpich").split():
        table = measure(build, kind)
        if not table:
            print(f"{kind}: there is no mpirun of it")
            continue
        print(f"{kind:<20} {'ms/iteration':>12} {'ratio':>6} {'exchange ms':>12} {'waiting ms':>11} {'messages':>9} "
              f"{'kB sent':>8} {'parted s':>9} {'in iterations':>14}")
        base = table[(1, 2)]["iteration"]
        for (ranks, threads), r in table.items():
            name = f"{ranks} rank{'s' * (ranks > 1)} x {threads} thread{'s' * (threads > 1)}"
            print(f"{name:<20} {r['iteration'] * 1e3:12.3f} {r['iteration'] / base:6.3f} {r['exchange'] * 1e3:12.3f} "
                  f"{r['waiting'] * 1e3:11.3f} {r['messages']:9.1f} {r['bytes'] * 1e-3:8.1f} {r['parted']:9.4f} "
                  f"{r['parted'] / r['iteration']:14.1f}")


main()

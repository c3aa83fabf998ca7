"""Loops one by one and loops that run as one (OP2_LAZY=on OP2_FUSE=on), without tiles, in turns: see turns.py and chains.py.

Then what compiling takes, with an empty cache: of each fused loop, and of its members one by one.
"""
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import turns  # noqa: E402

# Sample, size, that for --quick, one in the caches, what the work grows with, how many batches of each side, and how long to look, as in chains.py.
CASES = [
    ("airfoil", 720000, 3000, 3000, 1, 60, 1),
    ("aero", 1000, 32, 50, 2, 60, 1),
    ("aero_parts", 1000, 32, 50, 2, 60, 1),
    ("sums", 16000000, 4000, 4000, 1, 60, 1),
    ("temporaries", 16000000, 4000, 4000, 1, 60, 1),
]
SIDES = {"one by one": ("first", {"OP2_LAZY": "off"}), "fused": ("library", {"OP2_LAZY": "on", "OP2_FUSE": "on"})}
COMPILES = 5  # of each sample, in processes of their own


def compile_seconds(build, sample, size, folder):
    """By loop, of one process with an empty cache. Loops of one name may have rows of their own, of which one has the compile."""
    report, cache = os.path.join(folder, "report.json"), os.path.join(folder, "empty.db")
    for path in (report, cache):
        if os.path.exists(path):
            os.remove(path)
    env = {**os.environ, **SIDES["fused"][1], "OP2_TUNE": "off", "OP2_CACHE": cache, "OP2_TIMING": "json:" + report,
           "OP2_BACKEND": "openmp", "OP2_THREADS": "1"}
    side = turns.Side(os.path.join(build, "bench", "turns_" + sample), "first", size, os.devnull, env)
    try:
        side.wait_ready()
        side.batch(turns.FEWEST_STEPS)
        side.end()
    finally:
        side.kill()
    seconds = {}
    with open(report, encoding="utf-8") as file:
        for loop in json.load(file)["loops"]:
            seconds[loop["name"]] = max(seconds.get(loop["name"], 0), loop["compile_seconds"])
    return seconds


def print_compiles(build, wanted):
    print(f"{'fused loop':<48}{'compile ms':>12}{'members ms':>12}{'ratio':>7}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for sample, _, small, *_ in CASES:
            if wanted.samples and sample not in wanted.samples:
                continue
            runs = [compile_seconds(build, sample, small, folder) for _ in range(1 if wanted.quick else COMPILES)]
            for name in (name for name in runs[0] if "+" in name):
                whole = statistics.median(run[name] for run in runs)
                parts = statistics.median(sum(run[member] for member in set(name.split("+"))) for run in runs)
                print(f"{name:<48}{1e3 * whole:>12.1f}{1e3 * parts:>12.1f}{whole / parts if parts else 0:>7.2f}", flush=True)


def main(build, words):
    table = chains.Table("fusion", __doc__, CASES, SIDES)
    wanted = chains.read_words(table, build, words)
    failed = chains.run(wanted)
    if build != "-" and not failed:
        print_compiles(build, wanted)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Samples with their loops one by one and with loops that wait (OP2_LAZY=on), in turns: see turns.py.

A ratio above 1 says that chains are faster. The floor is what a step would take if no memory were waited for: loops one by one on a mesh
in the caches, scaled to the size. Sizes are cells of airfoil, else points on a side.
"""
import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402

# Sample, size, that for --quick, one in the caches, and what the work grows with.
CASES = [
    ("airfoil", 720000, 3000, 3000, 1),
    ("heat", 8000, 60, 100, 2),
    ("shallow_water", 1024, 32, 64, 2),
    ("shallow_water", 128, None, 64, 2),
    ("multigrid", 1024, 64, 64, 2),
]


def measure_case(build, case, wanted, env, folder):
    sample, usual, small, cached, power = case
    size, rounds = (small, turns.QUICK_ROUNDS) if wanted.quick else (usual, turns.ROUNDS)
    sides = {"one by one": ("first", {**env, "OP2_LAZY": "off"}), "chains": ("library", {**env, "OP2_LAZY": "on"})}
    times = {side: [] for side in sides}
    for _ in range(wanted.runs):
        for side, more in turns.run_pair(build, sample, size, rounds, sides, folder).items():
            times[side] += more
    few = turns.run_pair(build, sample, cached, turns.QUICK_ROUNDS, sides, folder)["one by one"]
    floor = statistics.median(few) * (size / cached)**power
    columns = []
    for side in sides:
        low, middle, high = (f"{ms:.{5 if ms < 1 else 3}f}" for ms in turns.quartiles(times[side]))
        columns.append(f"{middle:>10} {f'({low} - {high})':<24}")
    ratio = statistics.median(times["one by one"]) / statistics.median(times["chains"])
    print(f"{sample:<15}{size:>7}{env['OP2_THREADS']:>9}  {''.join(columns)}{floor:>9.3f}{ratio:>7.3f}", flush=True)


def measure(build, wanted):
    failed = 0
    most = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        env, _ = turns.environment(folder)
        print(f"{'sample':<15}{'size':>7}{'threads':>9}  {'one by one':>10} {'(quartiles)':<24}{'chains ms':>10} {'(quartiles)':<24}"
              f"{'floor':>9}{'ratio':>7}", flush=True)
        for case in CASES:
            if (wanted.samples and case[0] not in wanted.samples) or (wanted.quick and not case[2]):
                continue
            for threads in [1] if wanted.quick else sorted({1, most}):
                try:
                    measure_case(build, case, wanted, {**env, "OP2_THREADS": str(threads)}, folder)
                except turns.Failure as problem:
                    print(f"chains: {case[0]} {case[1]}: {problem}", file=sys.stderr, flush=True)
                    failed += 1
    turns.say_if_busy()
    return failed


def main(build, words):
    parser = argparse.ArgumentParser(prog="./dev bench chains", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    known = list(dict.fromkeys(case[0] for case in CASES))
    parser.add_argument("samples", nargs="*", metavar="SAMPLE", help="which to measure (all): " + ", ".join(known))
    parser.add_argument("--runs", type=turns.count, metavar="N", default=3, help="pairs of processes, one after the other (3)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few batches, to see that it works; one run")
    wanted = parser.parse_intermixed_args(words)
    unknown = [name for name in wanted.samples if name not in known]
    if unknown:
        parser.error(f"no sample {', '.join(unknown)}; there are: {' '.join(known)}")
    wanted.runs = 1 if wanted.quick else wanted.runs
    if build == "-":
        return 0
    return 1 if measure(build, wanted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

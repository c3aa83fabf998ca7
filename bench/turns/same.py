"""What the same bits on demand cost (OP2_REPRODUCIBLE=on): loops one by one, tuned, without it and with it, in turns: see turns.py
and chains.py. A ratio of 0.8 says that it takes 1.25 times as long.

Then the same by loop, from reports of one process of each.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import turns  # noqa: E402

# Sample, size, that for --quick, one in the caches, what the work grows with, how many batches of each side, and how long to look, as in chains.py.
CASES = [
    ("airfoil", 720000, 3000, 3000, 1, 60, 1),
    ("heat", 1000, 100, 100, 2, 60, 1),
    ("jac", 1000, 50, 100, 2, 60, 1),
    ("aero", 1000, 32, 50, 2, 60, 1),
]
SIDES = {"one by one": ("first", {"OP2_LAZY": "off"}), "the same bits": ("library", {"OP2_LAZY": "off", "OP2_REPRODUCIBLE": "on"})}


def loop_seconds(build, sample, size, side, steps, folder):
    """Of a call, and the variant, by loop: of the loops that have calls in this process."""
    word, more = SIDES[side]
    report = os.path.join(folder, "report.json")
    env = {**turns.environment(folder)[0], **more, "OP2_TUNE": "auto", "OP2_TIMING": "json:" + report}
    process = turns.Side(os.path.join(build, "bench", "turns_" + sample), word, size, os.path.join(folder, "answer"), env)
    try:
        process.wait_ready()
        process.batch(steps)
        process.end()
    finally:
        process.kill()
    with open(report, encoding="utf-8") as file:
        loops = json.load(file)["loops"]
    return {loop["name"]: (loop["seconds"] / loop["calls"], loop["variant"]) for loop in loops if loop["calls"]}


def print_loops(build, wanted):
    print(f"{'loop':<30}{'one by one ms':>14}{'same ms':>10}{'ratio':>7}  variant", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for sample, usual, small, *_ in CASES:
            if wanted.samples and sample not in wanted.samples:
                continue
            size, steps = (small, 10) if wanted.quick else (usual, 200)
            usually, same = (loop_seconds(build, sample, size, side, steps, folder) for side in SIDES)
            for name, (seconds, variant) in same.items():
                if name in usually:
                    before = usually[name][0]
                    ratio = seconds / before if before else 0
                    print(f"{sample + ' ' + name:<30}{1e3 * before:>14.3f}{1e3 * seconds:>10.3f}{ratio:>7.2f}  {variant}", flush=True)


def main(build, words):
    table = chains.Table("same", __doc__, CASES, SIDES)
    wanted = chains.read_words(table, build, words)
    failed = chains.run(wanted)
    if build != "-" and not failed:
        print_loops(build, wanted)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

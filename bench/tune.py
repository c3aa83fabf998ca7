#!/usr/bin/env python3
"""./dev bench tune: what tuning finds, what it costs, and what the next run starts with.

Each sample runs with the default variants (OP2_TUNE=off), tuned while it runs (auto), exhaustively (force), and tuned
once more from what the second run left in the cache. Times are per call, from the library's own report.
"""
import json
import os
import subprocess
import sys
import tempfile

SAMPLES = [
    ("airfoil", ["--cells", "60000", "--iters", "400"]),
    ("jac", ["--n", "500", "--iters", "400"]),
    ("aero", []),
]


def run(build, sample, options, cache, tune, folder):
    report = os.path.join(folder, "report.json")
    env = dict(os.environ, OP2_CACHE=cache, OP2_TUNE=tune, OP2_TIMING="json:" + report, OP2_LOG="warn")
    env.setdefault("OP2_BACKEND", "openmp")
    done = subprocess.run([os.path.join(build, "samples", sample)] + options, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit("%s failed with OP2_TUNE=%s:\n%s" % (sample, tune, done.stdout[-2000:]))
    with open(report, encoding="utf-8") as file:
        return json.load(file)["loops"]


def per_call(loop):
    return loop["seconds"] / max(1, loop["calls"])


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    row = "%-12s %-14s %10s %10s %10s %10s  %-22s %s"
    print("milliseconds a call; auto includes its trials; again: the run after auto, on its cache")
    print(row % ("sample", "loop", "default", "auto", "force", "again", "variant found", "compiled again"))
    for sample, options in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "tuned.db")
            default = run(build, sample, options, cache, "off", folder)
            auto = run(build, sample, options, cache, "auto", folder)
            again = run(build, sample, options, cache, "auto", folder)
            force = run(build, sample, options, os.path.join(folder, "force.db"), "force", folder)
        for d, a, g, f in zip(default, auto, again, force):
            if per_call(d) < 1e-5:
                continue
            print(row % (sample, d["name"], *["%.4f" % (1e3 * per_call(x)) for x in (d, a, f, g)], g["variant"],
                         "yes" if g["code"] == "compiled" else "no"))


if __name__ == "__main__":
    main()

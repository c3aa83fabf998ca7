#!/usr/bin/env python3
"""airfoil on several backends in turns, from a warm cache: ./dev bench devices [BACKEND[/VARIANT]...] [--cells N] [--iters N]
[--rounds N]. Without names: openmp and opencl. Every loop is waited for (OP2_TIMING), so that times are the device's and the
launch's. Milliseconds of an iteration: the median of the rounds, and their quartiles."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile


def seconds(text):
    found = re.search(r"loops took ([0-9.]+) (us|ms|s) ", text)
    if not found:
        sys.exit(f"airfoil says no time:\n{text[-2000:]}")
    return float(found[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[found[2]]


def run(build, options, name, cache):
    backend, _, variant = name.partition("/")
    env = {key: value for key, value in os.environ.items() if key not in ("OP2_VARIANT", "OP2_BACKEND")}
    env.update(OP2_BACKEND=backend, OP2_CACHE=cache, OP2_TIMING="text", OP2_TUNE=env.get("OP2_TUNE", "off"))
    if variant:
        env["OP2_VARIANT"] = variant
    command = [os.path.join(build, "samples", "airfoil"), "--cells", str(options.cells), "--iters", str(options.iters)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: airfoil failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return 1e3 * seconds(done.stdout + done.stderr) / options.iters


def main(build, words):
    parser = argparse.ArgumentParser(prog="./dev bench devices", description=__doc__)
    parser.add_argument("names", nargs="*", default=["openmp", "opencl"])
    parser.add_argument("--cells", type=int, default=100000)
    parser.add_argument("--iters", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(words)
    if build == "-": # only the options were to be read
        return
    times = {name: [] for name in options.names}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("POCL_CACHE_DIR", folder)
        for name in options.names:
            run(build, options, name, os.path.join(folder, "kernels.db")) # fills the cache
        for number in range(options.rounds):
            for name in options.names if number % 2 == 0 else options.names[::-1]:
                times[name].append(run(build, options, name, os.path.join(folder, "kernels.db")))
    print(f"airfoil, {options.cells} cells, {options.rounds} rounds of {options.iters} iterations; ms an iteration")
    print(f"{'':<32} {'median':>8} {'quartiles':>19} {'to the first':>13}")
    first = statistics.median(times[options.names[0]])
    for name, values in times.items():
        low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        print(f"{name:<32} {middle:>8.2f} {low:>9.2f} {high:>9.2f} {middle / first:>13.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

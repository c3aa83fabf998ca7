#!/usr/bin/env python3
"""./dev bench jit: what compiling costs, and what a warm start costs: opening the compiler plugin, the first compile of
each loop of vadd, jac and airfoil, a process up to the end of its first loop, and its memory. Every figure is the median
of fresh processes (the fastest beside it); figures are also written to BUILD/bench/jit.json.

usage: jit.py BUILD [REPEATS] [BACKEND...]     several backends: one after the other; the default is OP2_BACKEND or openmp
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

SAMPLES = [
    ("vadd", ["--size", "1000"]),
    ("jac", ["--n", "20", "--iters", "1"]),
    ("airfoil", ["--cells", "400", "--iters", "1"]),
]
TARGETS = {("vadd", "add"): 20, ("airfoil", "res_calc"): 60}
WARM_TARGET = 10


def environment(**more):
    env = {name: value for name, value in os.environ.items() if not name.startswith("OP2_")}
    # The libraries that stand in for a GPU's, and folders of drivers.
    env.update({name: os.environ[name] for name in ("OP2_HIP", "OP2_HIPRTC", "OP2_CUDA_DRIVER", "OP2_NVRTC", "OP2_OPENCL",
                                                   "OP2_DEVICE") if name in os.environ})
    env.update(OP2_TUNE="off", OP2_BACKEND=os.environ.get("OP2_BACKEND", "openmp"), **more)
    if "OP2_CACHE" in more: # PoCL has a cache of its own, in which a second cold start would find its kernels
        env["POCL_CACHE_DIR"] = more["OP2_CACHE"] + ".pocl"
    return env


def output(command, env):
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed (status {done.returncode}):\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def middle(values):
    return {"median": statistics.median(values), "least": min(values), "of": len(values)}


def measure_loops(build, repeats):
    """For each loop: milliseconds in the compiler, and its binary's size; by sample, loop and shape."""
    op2jit = os.path.join(build, "runtime", "cli", "op2jit")
    seconds, sizes = {}, {}
    for _ in range(repeats):
        for sample, options in SAMPLES:
            with tempfile.TemporaryDirectory() as folder:
                env = environment(OP2_CACHE=os.path.join(folder, "kernels.db"))
                output([os.path.join(build, "samples", sample), *options], env)
                for row in json.loads(output([op2jit, "cache", "ls", "--json"], env)):
                    key = json.loads(output([op2jit, "cache", "show", "--json", row["hash"]], env))["columns"]
                    name = (sample, row["loop"], key["shape"])
                    seconds.setdefault(name, []).append(1e3 * row["compile_seconds"])
                    sizes[name] = row["bytes"]
    return [{"sample": name[0], "loop": name[1], "shape": name[2], "ms": middle(values), "bytes": sizes[name],
             "target_ms": TARGETS.get(name[:2])} for name, values in seconds.items()]


def measure_starts(build, repeats):
    """Processes up to the end of their first loop: no code needed, code from the cache, code made."""
    program = os.path.join(build, "bench", "jit_start")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        def runs(label, count, **more):
            rows = [json.loads(output([program], environment(**{name: value.format(i) for name, value in more.items()})))
                    for i in range(count)]
            results[label] = {name: middle([row[name] for row in rows]) for name in rows[0]}

        runs("cold", repeats, OP2_CACHE=os.path.join(folder, "cold{}.db"))
        kept = os.path.join(folder, "kernels.db")
        output([program], environment(OP2_CACHE=kept))
        runs("warm", 4 * repeats, OP2_CACHE=kept, OP2_JIT="load")
        native = {"OP2_CACHE": "off", "OP2_BACKEND": "native"}
        rows = [json.loads(output([program], dict(environment(), **native))) for _ in range(4 * repeats)]
        results["native"] = {name: middle([row[name] for row in rows]) for name in rows[0]}
    return results


def measure_plugin(build, repeats):
    """Opening the plugin, and the phases of a compile, from the benchmark of the plugin alone."""
    opened, text = [], ""
    for _ in range(repeats):
        text = output([os.path.join(build, "bench", "jit_plugin")], environment())
        opened.append(float(re.search(r"^open\s+([0-9.]+)", text, re.MULTILINE)[1]))
    return {"compiler": text.splitlines()[0].split("; ", 1)[1], "open_ms": middle(opened)}


def show(results):
    plugin = results["plugin"]
    print(f"{plugin['compiler']}, backend {results['backend']}; milliseconds, median (least)")
    print(f"\nopen the plugin {plugin['open_ms']['median']:31.2f} ({plugin['open_ms']['least']:.2f})")
    print(f"\n{'cold compile of':<47} {'ms':>7} {'':>9} {'target':>7} {'bytes':>7}")
    for row in results["loops"]:
        name = f"  {row['sample']} {row['loop']} ({row['shape']})"
        target = f"{row['target_ms']}" if row["target_ms"] else "-"
        print(f"{name:<47} {row['ms']['median']:>7.2f} {'(%.2f)' % row['ms']['least']:>9} {target:>7} {row['bytes']:>7}")
    print(f"\n{'process up to the end of its first loop':<47} {'ms':>7} {'':>9} {'target':>7}"
          f"   memory in MB: at main, ready, after the loop; private before and after")
    names = {"cold": "  cold: plugin opened, loop compiled", "warm": "  warm: code from the cache",
             "native": "  native form: no code needed"}
    for label, row in results["starts"].items():
        memory = " ".join(f"{row[name]['median'] / 1024:.1f}" for name in ("rss_main_kb", "rss_ready_kb", "rss_ran_kb"))
        private = " ".join(f"{row[name]['median'] / 1024:.1f}" for name in ("private_main_kb", "private_ran_kb"))
        first = row["first_loop_ms"]
        print(f"{names[label]:<47} {first['median']:>7.2f} {'(%.2f)' % first['least']:>9} "
              f"{WARM_TARGET if label == 'warm' else '-':>7}   {memory}; {private}")


def measure(build, repeats, backend, plugin):
    os.environ["OP2_BACKEND"] = backend
    results = {"backend": backend, "plugin": plugin, "loops": measure_loops(build, repeats),
               "starts": measure_starts(build, repeats)}
    show(results)
    return results


def main(words):
    build = words[0]
    repeats = int(words[1]) if len(words) > 1 else 7
    backends = words[2:] or [environment()["OP2_BACKEND"]]
    plugin = measure_plugin(build, repeats)
    results = [measure(build, repeats, backend, plugin) for backend in backends]
    path = os.path.join(build, "bench", "jit.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results if len(results) > 1 else results[0], file, indent=1)
    print(f"\nfigures in {path}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))

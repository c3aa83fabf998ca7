"""./dev bench samples: every sample against its hand-written loops, on the backends for processors, in one
table; JSON and SVG beside it, and a line for each figure in bench/results/samples.csv, the history.

usage: samples.py BUILD [--quick] [--backends seq,openmp] [SAMPLE...]
"""

import csv
import datetime
import json
import os
import re
import subprocess
import sys

# Sample, what is measured, its options; then options for --quick.
CASES = [
    ("vadd", "16000000", ["--size", "16000000"], ["--size", "1000000"]),
    ("jac", "1000^2", ["--n", "1000", "--iters", "50"], ["--n", "200", "--iters", "20"]),
    ("airfoil", "720000", ["--cells", "720000", "--iters", "30"], ["--cells", "20000", "--iters", "30"]),
    ("airfoil", "720000 single", ["--cells", "720000", "--iters", "30", "--single"],
     ["--cells", "20000", "--iters", "30", "--single"]),
    ("shallow_water", "1024^2", ["--m", "1024", "--steps", "30"], ["--m", "128", "--steps", "30"]),
    ("shallow_water", "1024^2 contract", ["--m", "1024", "--steps", "30", "--fp", "contract"],
     ["--m", "128", "--steps", "30", "--fp", "contract"]),
    ("shallow_water", "hexagons 512", ["--m", "512", "--mesh", "hexagons", "--steps", "30"],
     ["--m", "64", "--mesh", "hexagons", "--steps", "30"]),
    ("heat", "1000^2", ["--n", "1000", "--steps", "50"], ["--n", "200", "--steps", "50"]),
    ("heat", "8000^2", ["--n", "8000", "--steps", "10"], None),
    ("laplace", "1000^2", ["--n", "1000", "--most", "100"], ["--n", "200", "--most", "50"]),
    ("jacobi_dense", "4096", ["--n", "4096", "--most", "30"], ["--n", "500", "--most", "30"]),
    ("reduction", "16000000", ["--many", "16000000"], ["--many", "500000"]),
    ("matmul", "600x400x400", ["--rows", "600", "--columns", "400", "--inner", "400"],
     ["--rows", "100", "--columns", "100"]),
    ("aero", "400^2", ["--n", "400"], ["--n", "48"]),
    ("multigrid", "1024^2", ["--side", "1024", "--cycles", "6"], ["--side", "128", "--cycles", "6"]),
    ("airfoil_hydra", "64^3", ["--n", "64", "--iters", "10"], ["--n", "16", "--iters", "10"]),
    ("adjoint", "720000", ["--cells", "720000", "--n", "500"], ["--cells", "20000", "--n", "50"]),
]

ROW = re.compile(r"^  (?P<name>\S.*?)\s+(?P<ms>[0-9.]+)\s+(?P<rate>[0-9.]+)\s+[0-9.]+x$")
TRIAD = re.compile(r"triad ([0-9.]+) GB/s")


def run(build, sample, options, backend):
    """The rows of the sample's table by name, or None after saying why there are none."""
    command = [os.path.join(build, "samples", sample), "--compare", *options, f"OP2_BACKEND={backend}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"{sample}: {problem}", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{' '.join(command)} failed (status {done.returncode}):", file=sys.stderr)
        print("\n".join((done.stdout + done.stderr).splitlines()[-6:]), file=sys.stderr)
        return None
    rows = {}
    for line in done.stdout.splitlines():
        match = ROW.match(line)
        if match:
            rows[match["name"]] = (float(match["ms"]), float(match["rate"]))
    return rows


def triad_of(build, backend):
    """What the library measured on its threads, from the report that airfoil prints."""
    command = [os.path.join(build, "samples", "airfoil"), "--cells", "720000", "--iters", "1", f"OP2_BACKEND={backend}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    match = TRIAD.search(done.stdout)
    return float(match[1]) if match else None


def library_row(rows):
    """The steady one of the library's rows; samples may print that of the first iteration too."""
    names = [name for name in rows if name.startswith("op2jit") and "first" not in name]
    return rows[names[-1]] if names else None


def measure(build, backends, quick, wanted):
    results, failed = [], 0
    triads = {backend: triad_of(build, backend) for backend in backends}
    print(f"{'sample':<15} {'size':<16} {'backend':<8} {'ms':>11} {'serial':>8} {'OpenMP':>8} {'GB/s':>8} {'triad':>7}")
    for sample, size, options, small in CASES:
        if (wanted and sample not in wanted) or (quick and small is None):
            continue
        for backend in backends:
            rows = run(build, sample, small if quick else options, backend)
            row = library_row(rows) if rows else None
            if not row or "hand-written, OpenMP" not in rows:
                failed += 1
                continue
            ms, rate = row
            serial, openmp = rows["hand-written, serial"][0], rows["hand-written, OpenMP"][0]
            share = rate / triads[backend] if triads[backend] else None
            results.append({"sample": sample, "size": "quick" if quick else size, "backend": backend, "ms": ms,
                            "serial_ms": serial, "openmp_ms": openmp, "gbytes_per_second": rate, "share_of_triad": share})
            print(f"{sample:<15} {results[-1]['size']:<16} {backend:<8} {ms:>11.3f} {ratio(serial, ms):>8} "
                  f"{ratio(openmp, ms):>8} {rate:>8.2f} {f'{100 * share:.0f} %' if share else '-':>7}", flush=True)
    return results, failed


def ratio(by_hand, ms):
    return f"{by_hand / ms:.2f}x" if ms > 0 else "-"


def write_svg(path, results):
    """Bars: how many times as fast as the hand-written OpenMP loops."""
    left, wide, bar = 260, 480, 16
    most = max([r["openmp_ms"] / r["ms"] for r in results if r["ms"] > 0] + [1.5])
    height = 50 + bar * len(results)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{left + wide + 70}' height='{height}' "
           "font-family='sans-serif' font-size='11'><rect width='100%' height='100%' fill='white'/>",
           "<text x='10' y='20' font-size='13'>times as fast as the hand-written OpenMP loops (the line: equal)</text>"]
    for i, r in enumerate(results):
        y, value = 34 + bar * i, r["openmp_ms"] / r["ms"] if r["ms"] > 0 else 0
        colour = "#c8502d" if r["backend"] == "openmp" else "#8a94a6"
        out.append(f"<text x='{left - 8}' y='{y + 11}' text-anchor='end'>{r['sample']} {r['size']}, {r['backend']}</text>")
        out.append(f"<rect x='{left}' y='{y + 1}' width='{wide * value / most:.1f}' height='{bar - 4}' fill='{colour}'/>")
        out.append(f"<text x='{left + wide * value / most + 5:.1f}' y='{y + 11}'>{value:.2f}</text>")
    out.append(f"<path d='M{left + wide / most:.1f} 28V{height - 8}' stroke='#222'/></svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def add_history(path, results):
    """One line for each figure, with the day and the commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    fields = ["day", "commit", "sample", "size", "backend", "ms", "serial_ms", "openmp_ms", "gbytes_per_second",
              "share_of_triad"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fresh = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if fresh:
            writer.writeheader()
        for r in results:
            writer.writerow({"day": datetime.date.today().isoformat(), "commit": commit, **r})


def main(words):
    build, words = words[0], words[1:]
    quick, backends, wanted = False, ["seq", "openmp"], []
    while words:
        word = words.pop(0)
        if word == "--quick":
            quick = True
        elif word == "--backends" and words:
            backends = words.pop(0).split(",")
        elif word.startswith("-"):
            sys.exit(f"samples.py: {word}: see the first lines of bench/samples.py")
        else:
            wanted.append(word)
    results, failed = measure(build, backends, quick, wanted)
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "samples.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    write_svg(os.path.join(folder, "samples.svg"), results)
    if not quick:
        add_history(os.path.join("bench", "results", "samples.csv"), results)
    print(f"columns serial and OpenMP: how many times as fast as those hand-written loops; figures in {folder}/samples.json")
    if failed:
        print(f"{failed} of the runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))

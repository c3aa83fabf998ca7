"""./dev bench samples: every sample against its hand-written loops, in one table; JSON and SVG beside it, and a line for
each figure in bench/results/samples.csv, the history.

Each case runs twice in a cache of its own: once to find variants, which OP2_TUNE=SECONDS bounds for each loop, and some
times (--runs, 3) with these (OP2_TUNE=use) beside the hand-written loops. Ratios are of one run each; the table has the median,
and for the OpenMP loops the least and the most. Cases run for about 0.1 seconds or more: the first hundredths are slower.
GB/s is the traffic that cannot be avoided over the time, beside the triad that the library measures on as many threads.

usage: ./dev bench samples [--quick] [--runs N] [--tune SECONDS] [--backends openmp,seq] [SAMPLE...]
       python3 bench/samples.py BUILD ..., where - for BUILD looks at the options only

On a machine that does other work, ./dev bench turns says more.
"""

import csv
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

# Sample, what is measured, its options; then options for --quick (None: left out).
CASES = [
    ("vadd", "16000000", ["--size", "16000000"], ["--size", "1000000"]),
    ("pi", "20000000", ["--strips", "20000000"], ["--strips", "2000000"]),
    ("reduction", "16000000", ["--many", "16000000"], ["--many", "500000"]),
    ("access_patterns", "4000000", ["--size", "4000000"], ["--size", "200000"]),
    ("matmul", "600x400x400", ["--rows", "600", "--columns", "400", "--inner", "400"],
     ["--rows", "100", "--columns", "100"]),
    ("jacobi_dense", "4096", ["--n", "4096", "--most", "60"], ["--n", "500", "--most", "30"]),
    ("jac", "1000^2", ["--n", "1000", "--iters", "40"], ["--n", "200", "--iters", "20"]),
    ("airfoil", "720000", ["--cells", "720000", "--iters", "20"], ["--cells", "20000", "--iters", "30"]),
    ("airfoil", "720000 single", ["--cells", "720000", "--iters", "20", "--single"],
     ["--cells", "20000", "--iters", "30", "--single"]),
    ("shallow_water", "128^2", ["--m", "128", "--steps", "8000"], ["--m", "64", "--steps", "100"]),
    ("shallow_water", "1024^2", ["--m", "1024", "--steps", "60"], ["--m", "128", "--steps", "30"]),
    ("shallow_water", "1024^2 contract", ["--m", "1024", "--steps", "60", "--fp", "contract"], None),
    ("shallow_water", "hexagons 512", ["--m", "512", "--mesh", "hexagons", "--steps", "100"],
     ["--m", "64", "--mesh", "hexagons", "--steps", "30"]),
    ("shallow_water", "hexagons 1024", ["--m", "1024", "--mesh", "hexagons", "--steps", "30"], None),
    ("heat", "1000^2", ["--n", "1000", "--steps", "1000"], ["--n", "200", "--steps", "60"]),
    ("heat", "8000^2", ["--n", "8000", "--steps", "10"], None),
    ("laplace", "1000^2", ["--n", "1000", "--most", "1000"], ["--n", "200", "--most", "50"]),
    ("aero", "300^2", ["--n", "300"], ["--n", "48"]),
    ("multigrid", "1024^2", ["--side", "1024", "--cycles", "5"], ["--side", "128", "--cycles", "6"]),
    ("airfoil_hydra", "64^3", ["--n", "64", "--iters", "8"], ["--n", "16", "--iters", "10"]),
    ("adjoint", "720000", ["--cells", "720000"], ["--cells", "20000"]),
]

HEADER = re.compile(r"^(?P<name>\S.*?)\s+ms\s+GB/s\s+rel\. time$")
ROW = re.compile(r"^  (?P<name>\S.*?)\s+(?P<ms>[0-9.]+)\s+(?P<rate>[0-9.]+|-)\s+\S+x$")
SERIAL, OPENMP, BY_MAP = "hand-written, serial", "hand-written, OpenMP", "hand-written, OpenMP, by the map"


def start(build, sample, options, **more):
    """What the sample prints, or None after saying what went wrong."""
    command = [os.path.join(build, "bench", "compare", "compare_" + sample), *options]
    try:
        done = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"{sample}: {problem}", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{' '.join(command)} failed (status {done.returncode}):", file=sys.stderr)
        print("\n".join((done.stdout + done.stderr).splitlines()[-6:]), file=sys.stderr)
        return None
    return done.stdout


def tables_of(text):
    """The tables of --compare by their names, each a dictionary from row to (ms, GB/s)."""
    tables, rows = {}, None
    for line in text.splitlines():
        header, row = HEADER.match(line), ROW.match(line)
        if header:
            rows = tables.setdefault(header["name"], {})
        elif row and rows is not None:
            name = row["name"]
            if name.startswith("op2jit") and "first" not in name:
                name = "op2jit"
            rows[name] = (float(row["ms"]), 0 if row["rate"] == "-" else float(row["rate"]))
    return {name: rows for name, rows in tables.items() if OPENMP in rows and "op2jit" in rows}


def report_of(path):
    """The library's loops, longest first, and the triad that it measured on its threads."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    loops = sorted(report["loops"], key=lambda loop: -loop["seconds"])
    keys = ("calls", "seconds", "variant", "in_cache")
    return [{"loop": loop["name"], **{key: loop[key] for key in keys}} for loop in loops], report["triad_gb_per_second"]


def run_case(build, sample, options, backend, runs, tune):
    """The tables of all runs, the variants of the last, and the triad; None if one failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        more = {"OP2_BACKEND": backend, "OP2_CACHE": os.path.join(folder, "kernels.db")}
        if start(build, sample, options, **more, OP2_TUNE=tune) is None:
            return None
        all_tables, triads = [], []
        for _ in range(runs):
            text = start(build, sample, ["--compare", *options], **more, OP2_TUNE="use", OP2_TIMING="json:" + report)
            if text is None:
                return None
            all_tables.append(tables_of(text))
            variants, triad = report_of(report)
            triads.append(triad)
        return all_tables, variants, statistics.median(triads)


def of_runs(all_tables, table, what):
    return [what(tables[table]) for tables in all_tables]


def figure(all_tables, table, what):
    return statistics.median(of_runs(all_tables, table, what))


def openmp(rows):
    return ratio(rows[OPENMP][0], rows["op2jit"][0])


def results_of(case, backend, all_tables, variants, triad):
    """One result for each table of the sample."""
    sample, size = case
    if variants[0]["in_cache"]:
        triad = None
    for table in all_tables[0]:
        rate = figure(all_tables, table, lambda rows: rows["op2jit"][1])
        rows = all_tables[0][table]
        yield {
            "sample": sample, "size": f"{size}, {table}" if len(all_tables[0]) > 1 else size, "backend": backend,
            "ms": figure(all_tables, table, lambda rows: rows["op2jit"][0]),
            "serial": figure(all_tables, table, lambda rows: ratio(rows[SERIAL][0], rows["op2jit"][0])),
            "openmp": figure(all_tables, table, openmp), "openmp_least": min(of_runs(all_tables, table, openmp)),
            "openmp_most": max(of_runs(all_tables, table, openmp)),
            "by_map": figure(all_tables, table, lambda rows: ratio(rows[BY_MAP][0], rows["op2jit"][0]))
                      if BY_MAP in rows else None,
            "gbytes_per_second": rate, "share_of_triad": rate / triad if triad else None,
            "openmp_share": figure(all_tables, table, lambda rows: rows[OPENMP][1]) / triad if triad else None,
            "variant": variants[0]["variant"], "loops": variants,
        }


def ratio(by_hand, ms):
    return by_hand / ms if ms > 0 else float("nan")


def times(value):
    return "-" if value is None else f"{value:.2f}x"


def percent(value):
    return f"{100 * value:.0f} %" if value else "cache"


def print_result(r):
    print(f"{r['sample']:<16}{r['size'][:28]:<29}{r['backend']:<7}{r['ms']:>10.{5 if r['ms'] < 1 else 3}f}{times(r['serial']):>8}"
          f"{times(r['openmp']):>8}{r['openmp_least']:>6.2f}-{r['openmp_most']:.2f}{times(r['by_map']):>8}{r['gbytes_per_second']:>8.2f}"
          f"{percent(r['share_of_triad']):>7}{percent(r['openmp_share']):>7}  "
          f"{r['loops'][0]['loop']}: {r['variant']}", flush=True)


def measure(build, wanted):
    results, failed = [], 0
    print(f"{'sample':<16}{'size':<29}{'backend':<7}{'ms':>10}{'serial':>8}{'OpenMP':>8}{'spread':>11}{'by map':>8}{'GB/s':>8}"
          f"{'triad':>7}{'limit':>7}  longest loop: its variant")
    for backend in wanted["backends"]:
        for sample, size, options, small in CASES:
            if (wanted["samples"] and sample not in wanted["samples"]) or (wanted["quick"] and small is None):
                continue
            found = run_case(build, sample, small if wanted["quick"] else options, backend, wanted["runs"], wanted["tune"])
            if not found or not found[0][0] or not found[1]:
                failed += 1
                continue
            for result in results_of((sample, "quick" if wanted["quick"] else size), backend, *found):
                results.append(result)
                print_result(result)
    return results, failed


def write_svg(path, results):
    """Bars: how many times as fast as the hand-written OpenMP loops."""
    left, wide, bar = 300, 460, 16
    most = max([r["openmp"] for r in results] + [1.5])
    height = 50 + bar * len(results)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{left + wide + 70}' height='{height}' "
           "font-family='sans-serif' font-size='11'><rect width='100%' height='100%' fill='white'/>",
           "<text x='10' y='20' font-size='13'>times as fast as the hand-written OpenMP loops (the line: equal)</text>"]
    for i, r in enumerate(results):
        y, value = 34 + bar * i, r["openmp"]
        colour = "#c8502d" if r["backend"] == "openmp" else "#8a94a6"
        out.append(f"<text x='{left - 8}' y='{y + 11}' text-anchor='end'>{r['sample']} {r['size']}, {r['backend']}</text>")
        out.append(f"<rect x='{left}' y='{y + 1}' width='{wide * value / most:.1f}' height='{bar - 4}' fill='{colour}'/>")
        out.append(f"<text x='{left + wide * value / most + 5:.1f}' y='{y + 11}'>{value:.2f}</text>")
    out.append(f"<path d='M{left + wide / most:.1f} 28V{height - 8}' stroke='#222'/></svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def add_history(path, results):
    """One line for each figure, with the day, the commit and how busy the machine was."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    fields = ["day", "commit", "load", "sample", "size", "backend", "ms", "serial", "openmp", "by_map", "gbytes_per_second",
              "share_of_triad", "openmp_share", "variant", "openmp_least", "openmp_most"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fresh = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, extrasaction="ignore")
        if fresh:
            writer.writeheader()
        for r in results:
            rounded = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in r.items()}
            writer.writerow({"day": datetime.date.today().isoformat(), "commit": commit,
                             "load": f"{os.getloadavg()[0]:.1f}", **rounded})


def read_words(words):
    wanted = {"quick": False, "runs": 3, "tune": "1", "backends": ["openmp", "seq"], "samples": []}
    known = {case[0] for case in CASES}
    while words:
        word = words.pop(0)
        if word in ("--help", "-h"):
            print(__doc__.strip())
            sys.exit(0)
        if word == "--quick":
            wanted["quick"] = True
        elif word == "--runs" and words and words[0].isdigit() and int(words[0]) > 0:
            wanted["runs"] = int(words.pop(0))
        elif word == "--tune" and words:
            wanted["tune"] = words.pop(0)
        elif word == "--backends" and words:
            wanted["backends"] = words.pop(0).split(",")
        elif word in known:
            wanted["samples"].append(word)
        else:
            print(f"samples.py: {word}: ./dev bench samples --help lists the options; samples: {' '.join(sorted(known))}", file=sys.stderr)
            sys.exit(2)
    return wanted


def main(build, words):
    wanted = read_words(words)
    if build == "-":
        return 0
    results, failed = measure(build, wanted)
    folder = os.path.join(build, "bench")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "samples.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    write_svg(os.path.join(folder, "samples.svg"), results)
    if not wanted["quick"]:
        add_history(os.path.join("bench", "results", "samples.csv"), results)
    print("serial, OpenMP, by map: how many times as fast as these hand-written loops. limit: the share of the triad that the "
          f"hand-written OpenMP loop reaches; cache: the data fit there. All figures and loops: {folder}/samples.json")
    if failed:
        print(f"{failed} of the runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))

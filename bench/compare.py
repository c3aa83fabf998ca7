"""Loops as op2jit runs them with no variable set, beside the same loops by hand with OpenMP in the best of several forms, as a program of OP2
with its own translator (--op2 FOLDER), and by hand in CUDA where there is a GPU: one page, as text and as HTML with a plot.

All take turns: one measures while the threads of the others sleep, a batch of steps each, and the order changes. A time is of one step: the
median of all batches, and the quartiles. op2jit is warm: a run before has filled its cache with code and with the variants that it found. Forms by
hand that are half as slow again as the best one leave after two rounds. The answers of all must agree, or the case fails. Share: the bytes
that a step must move over the bandwidth that the library measures (a triad), over the time; above 100 % the data stay in caches.

The page is .cache/dev/compare/index.html, compare.md there is the same as text. --keep FOLDER leaves it under the machine's name, as docs/compare has
that of the last run on each kind of machine.
"""
import argparse
import array
import datetime
import glob
import json
import math
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
import turns  # noqa: E402

# Name, what a step is, its size: usual, --full, --smallest (None: left out).
CASES = [
    ("airfoil", "2D Euler on quadrilaterals, an iteration", 720000, 720000, 1000),
    ("flux", "3D Euler flux over edges as MG-CFD's, a step", 80, 128, 8),
    ("heat", "five points through a map, a step", 2000, 8000, 20),
    ("shallow_water", "the shallow-water benchmark, a step", 1024, 2048, 16),
    ("jac", "Jacobi over edges, an iteration", 1000, 2000, 20),
    ("aero", "conjugate gradients on elements, an iteration", 500, 1000, 12),
    ("spmv", "a sparse matrix times a vector", 1000000, 4000000, 500),
    ("fem", "elements of eight nodes without a matrix, a step", 60, 100, 6),
    ("laplace", "Gauss-Seidel in two colours, a sweep", None, 1000, None),
    ("jacobi_dense", "a dense system, an iteration", None, 4096, None),
    ("multigrid", "a cycle over all levels", None, 1024, None),
]
SIZES = {"usual": 2, "full": 3, "smallest": 4}
MINUTES = {"usual": 5, "full": 30, "smallest": 0}
CPU = {"OMP_NUM_THREADS": "1", "TURNS_CLOCK": "cpu"}
MODULES = ["jinja2", "fparser", "pcpp", "sympy", "clang.cindex"]  # of OP2's translator
# Runs it. It asks libclang for the values of numbers by functions that clang.cindex does not declare: their pointers lose half of their bits, and it
# ends with a segmentation fault on most programs.
TRANSLATE = """
import clang.cindex, ctypes, runpy, sys
known = getattr(clang.cindex, "functionList", []) or clang.cindex.FUNCTION_LIST
known += [("clang_Cursor_Evaluate", [clang.cindex.Cursor], ctypes.c_void_p), ("clang_EvalResult_getAsInt", [ctypes.c_void_p], ctypes.c_int),
          ("clang_EvalResult_dispose", [ctypes.c_void_p])]
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
CPU_SECONDS = 600  # of a command on OP2, at most
BATCH_MS, LEARN_MS, LEAST_ROUNDS, MOST_ROUNDS, PROBES, OUT = 120, 2500, 5, 41, 2, 1.5
OURS, OP2 = "op2jit", "OP2"
COLOURS = {OURS: "#c8502d", "by hand": "#4a6fa5", OP2: "#8a94a6"}


def environment(folder):
    """No variable of the library but where its cache is; threads of OpenMP that wait go to sleep."""
    spin = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    env = {name: value for name, value in os.environ.items() if not name.startswith("OP2_") and name not in spin}
    return {**env, "OP2_CACHE": os.path.join(folder, "kernels.db")}


def say(program, *words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise turns.Failure(f"{os.path.basename(program)} {' '.join(words)} ended with status {done.returncode}")
    return done.stdout.split("\n")


class Case:
    """What is known of one row: the times of all who take part, and what they came to."""

    def __init__(self, case, size, program):
        self.name, self.what, self.size, self.program = case[0], case[1], size, program
        try:
            moved, limit, *forms = say(program, "forms", str(size))
        except OSError as problem:
            raise turns.Failure(f"{program}: {problem.strerror}: it needs the samples and OpenMP; ./dev build says what is missing") from None
        self.bytes, self.limit, self.forms = float(moved), float(limit), [form for form in forms if form]
        self.times, self.probed, self.report, self.steps = {}, {}, {}, 0

    def quartiles(self, who):
        return turns.quartiles(self.times[who])

    def best(self):
        """The fastest form by hand."""
        return min((form for form in self.forms if form in self.times), key=lambda form: statistics.median(self.times[form]))

    def ratio(self, who):
        """How many times as long as the library it takes: the quartiles of all rounds."""
        return turns.quartiles([theirs / ours for theirs, ours in zip(self.times[who], self.times[OURS])])

    def share(self, who, triad):
        return self.bytes / (1e6 * triad) / statistics.median(self.times[who]) if triad else 0


def steps_of(slowest, least):
    return min(turns.MOST_STEPS, max(least, int(BATCH_MS / slowest)))


def learn(case, env, folder, wanted):
    """Fills the cache, and asks the library for the bandwidth and its variants."""
    report = os.path.join(folder, "report.json")
    side = turns.Side(case.program, "usual", case.size, os.path.join(folder, "learnt"), {**env, "OP2_TIMING": "json:" + report})
    try:
        side.wait_ready()
        step = side.batch(4)
        if not wanted.smallest:
            side.batch(min(20 * turns.MOST_STEPS, max(4, int(LEARN_MS / step))))
        side.end()
    finally:
        side.kill()
    with open(report, encoding="utf-8") as file:
        case.report = json.load(file)


def batch_of(sides, who, steps):
    for side in sides.values():
        side.wait_asleep()
    return sides[who].batch(steps)


def take_turns(case, sides, until, rounds):
    for either in sides.values():
        while either.line() != "ready":
            pass  # OP2 says much before
    first = {who: batch_of(sides, who, 4) for who in sides}
    case.steps = 8 if rounds == PROBES else steps_of(first[OURS], 4)
    times = {who: [] for who in sides}
    running = list(sides)
    for turn in range(rounds):
        for who in running if turn % 2 else reversed(running):
            times[who].append(batch_of(sides, who, case.steps))
        if turn + 1 == min(PROBES, rounds):
            case.probed = {who: statistics.median(times[who]) for who in sides}
            best = min(case.probed[form] for form in case.forms)
            running = [who for who in running if who not in case.forms or case.probed[who] <= OUT * best]
        if turn + 1 >= LEAST_ROUNDS and time.monotonic() > until:
            break
    case.times = {who: times[who] for who in running}


def compare_answers(case, folder, names):
    """All against the first form by hand, beside the largest value."""
    answers = {}
    for who in names:
        answers[who] = array.array("d")
        with open(os.path.join(folder, who), "rb") as file:
            answers[who].frombytes(file.read())
    given = answers[case.forms[0]]
    largest = max(map(abs, given), default=0)
    for who, answer in answers.items():
        worst = max((abs(a - b) for a, b in zip(answer, given)), default=0)
        if len(answer) != len(given) or not given or not worst <= max(case.limit, 1e-10) * max(1, largest) or not math.isfinite(sum(answer)):
            raise turns.Failure(f"the answer of {who} differs from that of {case.forms[0]} by {worst:.3g}, of values up to {largest:.3g}")


def run_case(case, wanted, env, op2, until):
    """`op2`: the program of OP2, or None."""
    with tempfile.TemporaryDirectory() as folder:
        learn(case, env, folder, wanted)
        words = {OURS: (case.program, "usual"), **{form: (case.program, form) for form in case.forms}}
        if op2:
            words[OP2] = (op2, "op2")
        sides = {}
        try:
            for who, (program, word) in words.items():
                sides[who] = turns.Side(program, word, case.size, os.path.join(folder, who), env)
            take_turns(case, sides, until, PROBES if wanted.smallest else MOST_ROUNDS)
            for side in sides.values():
                side.batch(case.steps)  # one that left may have had other steps
                side.end()
            compare_answers(case, folder, list(sides))
        finally:
            for side in sides.values():
                side.kill()


# ---- others -------------------------------------------------------------------------------------------------------------------------

class Op2:
    """Programs of OP2, by a checkout's own translator and library; `why` is the reason if there are none, `without` of cases that have none."""

    SOURCES = ["core/op_lib_core", "core/op_rt_support", "core/SafeLong", "core/op_dummy_singlenode", "openmp/op_openmp_decl",
               "externlib/op_profile"]
    FLAGS = ["-std=c++17", "-O3", "-march=native", "-fopenmp", "-w"]

    def __init__(self, folder, work):
        self.folder, self.work, self.why = folder and os.path.abspath(folder), work, ""
        self.without = []
        if not folder:
            self.why = "it needs a checkout of OP2: --op2 FOLDER"
            return
        self.translator, self.why = self.find(self.folder)
        if self.why:
            return
        self.headers = [f"-I{self.folder}/op2/include", f"-I{ROOT}", f"-I{HERE}/op2"]
        objects = [os.path.join(work, os.path.basename(name) + ".o") for name in self.SOURCES]
        for name, made in zip(self.SOURCES, objects):
            self.why = self.why or self.fault("the library of OP2 cannot be compiled", "g++", *self.FLAGS, *self.headers, "-c", f"{self.folder}/op2/src/{name}.cpp", "-o", made)
        self.why = self.why or self.fault("the mesh of airfoil cannot be compiled", "gcc", "-O2", f"-I{ROOT}", "-c", f"{ROOT}/samples/airfoil/mesh.c", "-o", f"{work}/mesh.o")
        self.objects = objects + [f"{work}/mesh.o"]

    @classmethod
    def find(cls, folder):
        """The command of its translator, and what is wrong with the folder, or nothing."""
        found = [path for path in (f"{folder}/{name}/op2-translator.sh" for name in ("translator", "translator-v2")) if os.path.exists(path)]
        if not found or not os.path.exists(f"{folder}/op2/include/op_seq.h"):
            return [], f"{folder} is no checkout of OP2: it has no op2-translator.sh or no op2/include/op_seq.h"
        home = os.path.dirname(found[0])
        python = f"{home}/.python/bin/python3"
        wrong = cls.lacks(home, python)
        return [python, "-c", TRANSLATE, f"{home}/op2-translator"] if os.path.exists(python) else found[:1], wrong

    @staticmethod
    def fault(what, *command):
        """Runs it; what is wrong, or nothing. Its limit is time of the processor, which other work does not use up."""
        limit = (CPU_SECONDS, CPU_SECONDS)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))
        except OSError as problem:
            return f"{what}: {problem}"
        last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
        return f"{what}: {last[0].strip() if last else 'status ' + str(done.returncode)}" if done.returncode else ""

    @classmethod
    def lacks(cls, home, python):
        """What the translator needs beside its own files and does not find, or nothing."""
        if not os.path.exists(f"{home}/Makefile"):
            return ""
        wrong = cls.fault("OP2's translator asks git for its version, and git says", "git", "-C", home, "describe", "--always")
        if not wrong and not os.path.exists(python):
            wrong = cls.fault(f"OP2's translator needs a Python of its own, which it makes of what is in {home}/python", "make", "--silent", "-C", home, "python")
            wrong += "; docs/compare.md says how pip makes one" * bool(wrong)
        missing = [] if wrong else [name for name in MODULES if cls.fault("", python, "-c", "import " + name)]
        return wrong or (f"the Python of OP2's translator, {home}/.python, lacks " + ", ".join(missing) if missing else "")

    def program(self, name):
        """The case's, or None: without one in bench/op2, or if OP2 cannot be built."""
        source = os.path.join(HERE, "op2", name + ".cpp")
        if self.why or not os.path.exists(source):
            return None
        folder = os.path.join(self.work, name)
        os.makedirs(os.path.join(folder, "made"))
        with open(source, encoding="utf-8") as file:
            text = re.sub(r"op_par_loop\(\s+", "op_par_loop(", file.read())  # its translator wants the kernel on the line of the call
        with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as file:
            file.write(text)
        made = f"{folder}/made"
        wrong = self.fault(f"OP2 cannot translate {name}", *self.translator, *self.headers, "-t", "openmp", f"{folder}/{name}.cpp", "-o", made)
        wrong = wrong or self.fault(f"what OP2 made of {name} cannot be compiled", "g++", *self.FLAGS, *self.headers, f"{made}/{name}.cpp",
                                    f"{made}/openmp/op2_kernels.cpp", *self.objects, "-o", f"{folder}/{name}")
        if wrong:
            self.without.append(wrong)
        return None if wrong else f"{folder}/{name}"


def by_cuda(build, wanted):
    """{case: (ms by hand, its form, ms of the library there)} as bench/cuda measures them, and why there is none."""
    program = os.path.join(build, "bench", "cuda_one")
    if not os.path.exists(program):
        return {}, "this build has no CUDA"
    if not glob.glob("/dev/nvidia[0-9]*"):
        return {}, "there is no GPU here"
    with tempfile.TemporaryDirectory() as folder:
        figures = os.path.join(folder, "cuda.json")
        done = subprocess.run([program, "--source", os.path.join(HERE, "cuda", "twins.cu"), "--json", figures, "--cache", os.path.join(folder, "kernels.db")],
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            return {}, f"cuda_one ended with status {done.returncode}"
        with open(figures, encoding="utf-8") as file:
            read = json.load(file)
    found = {}
    for case in read["cases"]:
        name = case["case"].split()[0].rstrip(",")
        hand = [one for one in case["contenders"] if one["by"] != OURS]
        if hand and "single" not in case["case"] and "float" not in case["case"] and name in wanted:
            best = min(hand, key=lambda one: one["ms"])
            found[name] = (best["ms"], best["by"], case["contenders"][0]["ms"])
    return found, read["gpu"]


# ---- the page -----------------------------------------------------------------------------------------------------------------------

def machine():
    model = "an unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = re.sub(r"\((R|TM)\)", "", line.split(":", 1)[1]).strip()
                break
    return " ".join(model.split()), len(os.sched_getaffinity(0))


def kind_of_machine():
    model, cpus = machine()
    return re.sub(r"[^a-z0-9]+", "-", f"{model} {cpus} cpus".lower()).strip("-")


def ms(value):
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"


def spread(case, who):
    low, middle, high = case.quartiles(who)
    return f"{ms(middle)} ({ms(low)} - {ms(high)})"


def percent(share):
    return f"{100 * share:.0f} %" if share else ""


HEADINGS = ["case", "size", "op2jit, ms (quartiles)", "by hand, ms (quartiles)", "form", "by hand / op2jit", "share", "OP2, ms (quartiles)", "OP2 / op2jit",
            "CUDA by hand, ms"]


def cells_of(result, case):
    hand = case.best()
    low, middle, high = case.ratio(hand)
    op2 = [spread(case, OP2), f"{case.ratio(OP2)[1]:.2f}"] if OP2 in case.times else ["", ""]
    cuda = result["cuda"].get(case.name)
    return [case.name, str(case.size), spread(case, OURS), spread(case, hand), hand, f"{middle:.2f} ({low:.2f} - {high:.2f})",
            f"{percent(case.share(OURS, result['triad']))}, {percent(case.share(hand, result['triad']))}", *op2,
            f"{ms(cuda[0])} ({cuda[1]}), op2jit {ms(cuda[2])}" if cuda else ""]


def notes_of(result):
    model, cpus = machine()
    yield (f"{result['day']}, `{result['command']}`, commit {result['commit']}: {model}, {cpus} CPUs, load {result['load']:.1f} at the end."
           + (" One thread, and times of the processor." if "--threads 1" in result["command"] else ""))
    yield (f"Bandwidth of a triad: {result['triad']:.1f} GB/s. Share: of it, by the bytes that a step must move, op2jit's and by hand; above 100 % the data "
           "stay in caches. Ratios above 1: op2jit is faster; they are medians of the rounds' own.")
    yield "OP2: " + (result["op2"] or "its own translator, OpenMP; empty where bench/op2 has no program.")
    yield "CUDA: " + result["gpu"] + ("." if not result["cuda"] else "; by bench/cuda, empty where it has no form.")
    for case in result["cases"]:
        forms = ", ".join(f"{form} {ms(case.probed[form])}" for form in case.forms)
        loops = sorted(case.report["loops"], key=lambda loop: -loop["seconds"])[:1]
        chosen = f"; op2jit's longest loop: {loops[0]['name']}, {loops[0]['variant']}" if loops else ""
        yield f"{case.name}: {case.what}; {case.steps} steps a batch, {len(case.times[OURS])} rounds; ms by hand in the first: {forms}{chosen}."


def bars_of(case):
    hand = case.best()
    yield OURS, (1, 1, 1)
    yield "by hand", case.ratio(hand)
    if OP2 in case.times:
        yield OP2, case.ratio(OP2)


def draw(result):
    """Bars: how many times as long as op2jit, with whiskers for the quartiles; the line is op2jit."""
    rows = [(case, list(bars_of(case))) for case in result["cases"]]
    most = max([ratio[2] for _, bars in rows for _, ratio in bars] + [1.5])
    left, wide, bar = 130, 520, 13
    height = 50 + sum(bar * len(bars) + 9 for _, bars in rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 60}" height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/><text x="10" y="18" font-size="13">time by that of op2jit as it comes: shorter is faster</text>']
    at = left
    for name, colour in COLOURS.items():
        out.append(f'<rect x="{at}" y="26" width="10" height="10" fill="{colour}"/><text x="{at + 14}" y="35">{name}</text>')
        at += 80
    y = 46
    for case, bars in rows:
        out.append(f'<text x="{left - 8}" y="{y + bar * len(bars) / 2 + 4:.0f}" text-anchor="end">{case.name}</text>')
        for who, (low, middle, high) in bars:
            unit = wide / most
            out.append(f'<rect x="{left}" y="{y}" width="{middle * unit:.1f}" height="{bar - 2}" fill="{COLOURS[who]}"/>')
            if high > low:
                out.append(f'<path d="M{left + low * unit:.1f} {y + 5.5}H{left + high * unit:.1f}" stroke="#222"/>')
            if who != OURS:
                out.append(f'<text x="{left + high * unit + 4:.1f}" y="{y + 9}" font-size="9">{middle:.2f}</text>')
            y += bar
        y += 9
    out.append(f'<path d="M{left + wide / most:.1f} 42V{height - 6}" stroke="#222" stroke-dasharray="3 2"/></svg>')
    return "\n".join(out) + "\n"


def as_text(result, title, picture):
    rows = [HEADINGS, ["---"] * len(HEADINGS)] + [cells_of(result, case) for case in result["cases"]]
    notes = list(notes_of(result))
    lines = [f"# {title}", "", notes[0].replace("CPUs, load", "CPUs,\nload").replace(" One thread", "\nOne thread"), "", f"![Times by those of op2jit]({picture})", ""]
    lines += ["| " + " | ".join(row) + " |" for row in rows] + [""] + [textwrap.fill("- " + note, 118, subsequent_indent="  ", break_long_words=False) for note in notes[1:]]
    return "\n".join(lines) + "\n"


def as_html(result, title):
    def row(cells, kind):
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    notes = [escape(note).replace("`", "") for note in notes_of(result)]
    return (f"<!doctype html><meta charset='utf-8'><title>{escape(title)}</title><style>body{{font-family:sans-serif;margin:2em}}td,th{{padding:.2em .6em;"
            f"text-align:left;border-bottom:1px solid #ddd}}</style><h1>{escape(title)}</h1><p>{notes[0]}</p>{draw(result)}<table>{row(HEADINGS, 'th')}"
            + "".join(row(cells_of(result, case), "td") for case in result["cases"]) + "</table><ul>"
            + "".join(f"<li>{note}</li>" for note in notes[1:]) + "</ul>\n")


def write_pages(result, wanted):
    title = f"op2jit beside others: {kind_of_machine()}"
    os.makedirs(wanted.out, exist_ok=True)
    pages = {"index.html": as_html(result, title), "compare.md": as_text(result, title, "compare.svg"), "compare.svg": draw(result)}
    if wanted.keep:
        name = kind_of_machine()
        pages.update({os.path.join(os.path.abspath(wanted.keep), name + ".md"): as_text(result, title, name + ".svg"),
                      os.path.join(os.path.abspath(wanted.keep), name + ".svg"): draw(result)})
    for name, text in pages.items():
        with open(os.path.join(wanted.out, name), "w", encoding="utf-8") as file:
            file.write(text)
    print(f"\nthe page: {os.path.join(wanted.out, 'index.html')}")


def faults_of(path):
    """What is wrong with the form of a page that was kept."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    rows = {cells[0]: cells for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| "))}
    faults = [f"no row of {case[0]}" for case in CASES if case[SIZES["smallest"]] and case[0] not in rows]
    faults += [f"{name}: {cells}" for name, cells in rows.items() if name not in ("case", "---") and
               (len(cells) != len(HEADINGS) or not all(re.fullmatch(r"[0-9.]+ \([0-9.]+ - [0-9.]+\)", cells[k]) for k in (2, 3, 5)))]
    if not re.search(r"^\d{4}-\d\d-\d\d, `\./dev compare[^`]*`, commit \w+: .+, \d+ CPUs,\sload [0-9.]+ ", text, re.MULTILINE):
        faults.append("no line with the date, the command, the commit and the machine")
    faults += [f"no line of {what}" for what in ("Bandwidth", "OP2", "CUDA") if not re.search(rf"^- {what}\b", text, re.MULTILINE)]
    picture = re.search(r"\]\((\S+\.svg)\)", text)
    drawn = picture and os.path.join(os.path.dirname(path), picture.group(1))
    if not drawn or not os.path.exists(drawn) or os.path.getsize(drawn) > 30000:
        faults.append("no picture, or one of more than 30 kB")
    elif len(xml.etree.ElementTree.parse(drawn).findall(".//{http://www.w3.org/2000/svg}rect")) < 2 * len(rows) - 4:
        faults.append("the picture has too few bars")
    return [f"{path}: {fault}" for fault in faults]


# ---- all of it ----------------------------------------------------------------------------------------------------------------------

def measure(build, wanted, op2):
    """The cases, and how many failed."""
    form = "smallest" if wanted.smallest else "full" if wanted.full else "usual"
    cases = [case for case in CASES if case[0] in (wanted.cases or [case[0]]) and case[SIZES[form]]]
    end = time.monotonic() + 60 * (wanted.minutes or MINUTES[form])
    done, failed = [], 0
    print(f"{'case':<14}{'size':>9}  {'op2jit ms':<28}{'by hand ms':<28}{'form':<9}{'by hand/op2jit':<20}{'OP2/op2jit'}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        env = {**environment(folder), **({"OMP_NUM_THREADS": wanted.threads} if wanted.threads else {}), **(CPU if wanted.threads == "1" else {})}
        if wanted.smallest:
            env.update(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="0")
        for number, given in enumerate(cases):
            until = time.monotonic() + (end - time.monotonic()) / (len(cases) - number)
            try:
                case = Case(given, given[SIZES[form]], os.path.join(build, "bench", "turns_" + given[0]))
                run_case(case, wanted, env, op2.program(given[0]), until)
            except turns.Failure as problem:
                print(f"compare: {given[0]}: {problem}", file=sys.stderr, flush=True)
                failed += 1
                continue
            done.append(case)
            low, middle, high = case.ratio(case.best())
            op2_ratio = f"{case.ratio(OP2)[1]:.2f}" if OP2 in case.times else ""
            print(f"{case.name:<14}{case.size:>9}  {spread(case, OURS):<28}{spread(case, case.best()):<28}{case.best():<9}"
                  f"{f'{middle:.2f} ({low:.2f} - {high:.2f})':<20}{op2_ratio}", flush=True)
    return done, failed


def refuse(why):
    print(f"compare: --op2: {why}; without --op2 that column is empty", file=sys.stderr)
    return 1


def compare(build, wanted):
    with tempfile.TemporaryDirectory() as work:
        op2 = Op2(wanted.op2, work)
        if wanted.op2 and op2.why:
            return refuse(op2.why)
        cases, failed = measure(build, wanted, op2)
        cuda, gpu = by_cuda(build, [case.name for case in cases])
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    triads = [case.report["triad_gb_per_second"] for case in cases if case.report["triad_gb_per_second"]]
    if cases:
        result = {"cases": cases, "cuda": cuda, "gpu": gpu, "op2": "; ".join([op2.why] * bool(op2.why) + op2.without), "triad": statistics.median(triads) if triads else 0,
                  "day": datetime.date.today().isoformat(), "command": " ".join(["./dev compare", *wanted.words]),
                  "commit": commit.stdout.strip() or "unknown", "load": os.getloadavg()[0]}
        write_pages(result, wanted)
    print(f"OP2: {op2.why or '; '.join(op2.without) or 'by its own translator'}; CUDA: {gpu}")
    turns.say_if_busy()
    return 1 if failed or not cases else 0


def read_words(words):
    known = [case[0] for case in CASES]
    parser = argparse.ArgumentParser(prog="./dev compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="which to measure (all): " + ", ".join(known))
    parser.add_argument("--full", action="store_true", help="larger sizes and three cases more, for 30 minutes; else it takes five")
    parser.add_argument("--minutes", type=float, metavar="N", help="so many instead")
    parser.add_argument("--threads", metavar="N", help="so many (OMP_NUM_THREADS); 1: times are of the processor, which other work disturbs little")
    parser.add_argument("--op2", metavar="FOLDER", help="a checkout of OP2-Common, whose translator and library make the column of OP2")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the page there too, under the machine's name")
    parser.add_argument("--smallest", action="store_true", help="the smallest sizes and two rounds, to see that all answers agree")
    parser.add_argument("--out", metavar="FOLDER", default=os.path.join(ROOT, ".cache", "dev", "compare"), help="where the page goes")
    parser.add_argument("--check", metavar="PAGE", nargs="+", help="say only what is wrong with pages that were kept")
    wanted = parser.parse_intermixed_args(words)
    # The command that the page says: others have their checkout of OP2 elsewhere.
    wanted.words = ["FOLDER" if word == wanted.op2 else word for word in words if word not in ("--keep", wanted.keep, "--out", wanted.out)]
    unknown = [name for name in wanted.cases if name not in known]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {' '.join(known)}")
    return wanted


def main(build, words):
    wanted = read_words(words)
    if wanted.check:
        faults = [fault for page in wanted.check for fault in faults_of(page)]
        print("\n".join(faults) or f"{len(wanted.check)} pages have all of their rows")
        return 1 if faults else 0
    if build == "-":  # before anything is built
        why = Op2.find(os.path.abspath(wanted.op2))[1] if wanted.op2 else ""
        return refuse(why) if why else 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its folders and its processes are cleared away
    return compare(build, wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Loops over a mesh that stays in the processor's cache, on one thread: nanoseconds an element.

Each row is a loop of bench/incache/incache.c: those of airfoil, a flux with five values and a normal (euler), the
gradient and the flux of a large flow solver (seven values and their gradients, eighty-one values an edge), single
values spread over edges, and brought along them (jac), the product of finite elements. Processes that each have one
loop take turns, a few runs of the loop at a time: the library, the same loop by hand where there is one, and with
--old BUILD the library of another build. What else the machine does slows neighbours in time alike, so `old/new` is
the median of the ratios of neighbours; the times are the least and the median of all batches.

bound is what llvm-mca computes from the processor's ports for the longest inner loop, in ns at the clock that a chain of additions
shows; mca is what it computes with the order of instructions, their latencies and the sizes of queues, memory without surprises.
Both are there for strips only: of code without them a dump has what a debugger steps through, which is not what runs.

The last row is the sample airfoil with all its loops, in ns a cell and iteration.

The library takes its first guesses, unless OP2_TUNE or OP2_VARIANT are set.
"""
import argparse
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

# Processes of each side, one after the other: where the system puts their memory and stacks differs. Turns of each.
LIVES, QUICK_LIVES = 5, 1
ROUNDS, QUICK_ROUNDS, RUNS = 40, 3, 5


class Failure(Exception):
    """What a line can say."""


class Process:
    def __init__(self, words, env):
        self.name = " ".join(words)
        self.batches = []
        self.process = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def line(self):
        said = self.process.stdout.readline()
        if not said:
            raise Failure(f"{self.name} ended with status {self.process.wait()}")
        return said.strip()

    def begin(self):
        if self.line() != "ready":
            raise Failure(f"{self.name} did not begin")
        return self

    def batch(self):
        self.process.stdin.write(f"{RUNS}\n")
        self.process.stdin.flush()
        self.batches.append(float(self.line()))

    def end(self):
        self.process.stdin.close()
        answer = float(self.line())
        if self.process.wait():
            raise Failure(f"{self.name} ended with status {self.process.returncode}")
        return answer


def inner_loop(path, tool):
    """The instructions of the innermost loop with most vector registers."""
    text = subprocess.run([tool, "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    code = [(int(m[1], 16), m[2]) for m in re.finditer(r"^ +([0-9a-f]+):\s+(.*?)\s*(?:#.*)?$", text, re.M)]
    places = {address: number for number, (address, _) in enumerate(code)}
    loops = []
    for number, (address, words) in enumerate(code):
        jump = re.match(r"j\w+\s+0x([0-9a-f]+)", words)
        if jump and int(jump[1], 16) <= address and int(jump[1], 16) in places:
            loops.append((places[int(jump[1], 16)], number))
    # A branch in a loop may lead back to its beginning, too.
    loops = [a for a in loops if not any(b[0] == a[0] and b[1] > a[1] for b in loops)]
    inner = [a for a in loops if not any(b != a and b[0] >= a[0] and b[1] <= a[1] for b in loops)]

    def vectors(loop):
        return sum(len(re.findall(r"[yz]mm", words)) for _, words in code[loop[0]:loop[1] + 1])

    first, last = max(inner, key=vectors)
    lines = [words.replace("(%rip)", "64(%rsp)") for _, words in code[first:last + 1]]
    return [re.sub(r"^(j\w+)\s.*", r"\1 begin", words) for words in lines], vectors((first, last)) > 0


def find_tool(name):
    return shutil.which(name + "-19") or shutil.which(name)


def gigahertz():
    """Of a chain of additions, one a cycle; the best of many."""
    source = ("#include <stdio.h>\n#include <time.h>\nint main(void) { double best = 1; for (int k = 0; k < 300; k++) { struct timespec a, b;"
              "long x = 0; clock_gettime(CLOCK_MONOTONIC, &a); for (long i = 0; i < 100000; i++) __asm__ volatile(\"add $1, %0\" : \"+r\"(x));"
              "clock_gettime(CLOCK_MONOTONIC, &b); double t = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);"
              "if (t < best) best = t; } printf(\"%g\", 1e-4 / best); }\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clock")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-x", "c", "-", "-o", path], input=source, text=True, check=True)
        return float(subprocess.run([path], capture_output=True, text=True, check=True).stdout)


def analyse(folder, loop, clock):
    """(bound, mca) in ns an element, of the code in the folder; None: not known."""
    tools = find_tool("llvm-objdump"), find_tool("llvm-mca")
    dumps = [d for d in os.listdir(folder) if d.startswith(loop + "-")]
    if not all(tools) or not clock or len(dumps) != 1:
        return None
    width = re.search(r"-strip(\d+)", dumps[0])
    lines, vectors = inner_loop(os.path.join(folder, dumps[0], loop + ".o"), tools[0])
    if width and not vectors:
        return None
    done = subprocess.run([tools[1], "-iterations=100"], input="begin:\n" + "\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    cycles = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    bound = re.search(r"Block RThroughput:\s+([\d.]+)", done.stdout)
    if not cycles or not bound or not width:
        return None
    return float(bound[1]) / int(width[1]) / clock, int(cycles[1]) / 100 / int(width[1]) / clock


def environment(dump=None, old=None):
    env = dict(os.environ, OMP_WAIT_POLICY="passive", OP2_BACKEND="seq", OP2_CACHE="off")
    env.setdefault("OP2_TUNE", "off")
    if dump:
        env["OP2_DUMP"] = dump
    if old:
        env["LD_LIBRARY_PATH"] = old
        env["OP2_PLUGINS"] = os.path.join(old, "jit", "clang")
    return env


def live(words, has_hand, options):
    """Takes turns; the sides by name, and their answers."""
    sides = {"new": Process(words, environment())}
    if options.old:
        sides["old"] = Process(words, environment(old=os.path.abspath(options.old)))
    if has_hand:
        sides["hand"] = Process(words + ["by-hand"], environment())
    for side in sides.values():
        side.begin()
    for number in range(QUICK_ROUNDS if options.quick else ROUNDS):
        order = list(sides.values())
        for side in order if number % 2 else reversed(order):
            side.batch()
    return sides, {name: side.end() for name, side in sides.items()}


def measure(program, loop, has_hand, options, clock):
    """The batches of each side, and what is known of the code."""
    words = [program, loop, str(options.cells)]
    batches = {}
    with tempfile.TemporaryDirectory() as dump:  # in a process of its own: code to step through is other code
        Process(words, environment(dump)).begin().end()
        analysis = analyse(dump, loop, clock)
    for _ in range(QUICK_LIVES if options.quick else LIVES):
        sides, answers = live(words, has_hand, options)
        for name, side in sides.items():
            batches.setdefault(name, []).extend(side.batches)
            if not abs(answers[name] - answers["new"]) <= 1e-6 * max(1e-3, abs(answers["new"])):
                raise Failure(f"{loop}: the answer of {name} is {answers[name]!r}, the library's {answers['new']!r}")
    return batches, analysis


def airfoil_once(options, env, iterations):
    words = [os.path.join(options.build, "samples", "airfoil"), "--cells", str(options.cells), "--iters", str(iterations)]
    said = subprocess.run(words, env=env, capture_output=True, text=True, check=False).stdout
    cells, took = re.search(r"(\d+) cells", said), re.search(r"loops took ([0-9.]+) (us|ms|s) ", said)
    if not cells or not took:
        raise Failure(f"{' '.join(words)} said no time:\n{said[-500:]}")
    return float(took[1]) * {"us": 1e3, "ms": 1e6, "s": 1e9}[took[2]] / int(cells[1]) / iterations


def airfoil(options):
    """The batches of each side of the sample, all its loops, in ns a cell and iteration; from a cache that has them."""
    iterations, rounds = (20, 1) if options.quick else (200, 15)
    sides = {"new": environment()} | ({"old": environment(old=os.path.abspath(options.old))} if options.old else {})
    batches = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as folder:
        for name, env in sides.items():
            env.update(OP2_TIMING="text", OP2_CACHE=os.path.join(folder, name + ".db"))
            airfoil_once(options, env, 1)
        for number in range(rounds):
            for name in sorted(sides, reverse=number % 2 == 1):
                batches[name].append(airfoil_once(options, sides[name], iterations))
    return batches


def row(loop, batches, analysis):
    def times(name):
        if name not in batches:
            return f"{'-':>7}{'-':>8}"
        return f"{min(batches[name]):7.2f}{statistics.median(batches[name]):8.2f}"

    def ratio(name):
        if name not in batches:
            return f"{'-':>9}"
        return f"{statistics.median(a / b for a, b in zip(batches[name], batches['new'])):9.2f}"

    known = f"{analysis[0]:8.2f}{analysis[1]:7.2f}" if analysis else f"{'-':>8}{'-':>7}"
    print(f"{loop:<12}{times('new')}  {times('old')}{ratio('old')}  {times('hand')}{ratio('hand')}{known}", flush=True)


def main():
    words = argparse.ArgumentParser(prog="./dev bench incache", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build", help=argparse.SUPPRESS)
    words.add_argument("loops", nargs="*", metavar="LOOP", help="these loops only")
    words.add_argument("--old", metavar="BUILD", help="the build folder of another library to compare with")
    words.add_argument("--cells", type=int, default=20000)
    words.add_argument("--quick", action="store_true", help="a few batches, to see that it works")
    options = words.parse_intermixed_args()
    if options.build == "-":
        return 0
    program = os.path.join(options.build, "bench", "incache_one")
    known = [line.split() for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
    clock = gigahertz() if find_tool("llvm-mca") else None
    print(f"ns an element, {options.cells} cells, one thread" + (f", {clock:.2f} GHz" if clock else ""))
    print(f"{'loop':<12}{'least':>7}{'median':>8}  {'old':>7}{'median':>8}{'old/new':>9}  {'hand':>7}{'median':>8}{'hand/new':>9}"
          f"{'bound':>8}{'mca':>7}")
    rows = {name: lambda name=name, forms=forms: measure(program, name, bool(forms), options, clock)
            for name, *forms in known}
    rows["airfoil"] = lambda: (airfoil(options), None)
    status = 0
    for name, made in rows.items():
        if options.loops and name not in options.loops:
            continue
        try:
            row(name, *made())
        except Failure as problem:
            print(f"{name:<12}{problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

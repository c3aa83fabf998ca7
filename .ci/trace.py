"""The way of one op_par_loop through the library's files, counted: first calls with a cold and a warm cache, and a warm call.

usage: ./dev house --trace [--list]

The library is built with -finstrument-functions, and .ci/trace/loop.c records what the thread that calls op_par_loop enters.
Counted are functions of the library's own sources: not the compiler plugin, not other libraries, not what headers have inline.
An entry: a function of one file calls one of another. Calls of the same file by the same file that follow one another are one.
A re-entry is an entry of a file that was entered before. base/ is what everything appends its texts to: its share is apart.
The warm call is the usual one of many, with nothing on trial: now and then one compares crews of threads, when depends on time.
With --list each entry is a line, in their order. Status 1: a limit is missed."""
import collections
import os
import subprocess
import sys
import tempfile

import house

# Cells of the table, and the line of docs/rooms.md that says what they may be at most.
LIMITS = {("a warm call", "files"): "files of a warm call", ("a first call, cold cache", "re-entries"): "re-entries of a first call"}
COMPILER = ("jit/",)  # nothing of it is called when a loop is warm
WARM, CALLS = 401, 128  # the first call that is traced then, and how many are


def functions(library, places, root):
    """(function, file) of each place of the library; a file is relative to the root."""
    words = ["addr2line", "-f", "-e", library]
    lines = subprocess.run(words, input="\n".join(places), capture_output=True, text=True, check=True).stdout.splitlines()
    files = [os.path.relpath(os.path.realpath(line.rsplit(":", 1)[0]), root) for line in lines[1::2]]
    return dict(zip(places, zip(lines[0::2], files)))


class Way:
    """What one traced call entered: functions, and the entries of files in their order."""

    def __init__(self, text, root):
        lines = [line.split() for line in text.splitlines()]
        own = [words for words in lines if "libop2jit.so" in words[0]]
        places = sorted({words[1] for words in own})
        names = functions(own[0][0], places, root)
        self.functions = {names[place] for place in places}
        self.entries = []  # (file, function, the file that calls)
        stack, last = [None], None
        for words in lines:
            if words == ["-"]:
                stack.pop()
                continue
            function, file = names.get(words[1], ("", stack[-1]))
            if file != stack[-1] and (stack[-1], file) != last:
                last = (stack[-1], file)
                self.entries.append((file, function, stack[-1]))
            stack.append(file)

    def figures(self):
        files = [file for file, _, _ in self.entries]
        again = [file for i, file in enumerate(files) if file in files[:i]]
        base = sum(file.startswith("base/") for file in again)
        return {"functions": len(self.functions), "files": len(set(files)), "entries": len(files), "re-entries": len(again) - base, "of base/": base}


def calls(program, root, first, count, cache, tune):
    """The way of each of these calls."""
    settings = {"OP2_BACKEND": "openmp", "OP2_THREADS": "2", "XDG_CACHE_HOME": cache, "OP2_TUNE": tune}
    run = subprocess.run([program, str(first), str(count)], env={**os.environ, **settings}, capture_output=True, text=True, check=True)
    texts = run.stdout.split("=\n")[:-1]
    ways = {text: Way(text, root) for text in set(texts)}
    return [ways[text] for text in texts]


def usual(ways):
    way, times = collections.Counter(ways).most_common(1)[0]
    print(f"{times} of {len(ways)} warm calls go the same way")
    return way


def main(program, root, *options):
    with tempfile.TemporaryDirectory() as cache:
        first, second = (calls(program, root, 1, 1, cache, "auto")[0] for _ in range(2))
        calls(program, root, WARM, 1, cache, "force")  # chooses a variant, which the next run finds
        warm = usual(calls(program, root, WARM, CALLS, cache, "use"))
    ways = {"a first call, cold cache": first, "a first call, warm cache": second, "a warm call": warm}
    limits, bad = house.Page(root).limits, 0
    print(f"{'route':26}{'functions':>10}{'files':>18}{'entries':>10}{'re-entries':>20}{'of base/':>10}")
    for route, way in ways.items():
        cells = []
        for column, value in way.figures().items():
            limit = limits.get(LIMITS.get((route, column)))
            bad += limit is not None and value > limit
            cells.append(f"{value} (at most {limit})" if limit else str(value))
        print(f"{route:26}{cells[0]:>10}{cells[1]:>18}{cells[2]:>10}{cells[3]:>20}{cells[4]:>10}")
    compiler = sorted({file for file, _, _ in ways["a warm call"].entries if file.startswith(COMPILER)})
    if compiler:
        print(f"a warm call enters the compiler: {' '.join(compiler)}")
    if "--list" in options:
        for route, way in ways.items():
            print(f"\n{route}")
            for file, function, caller in way.entries:
                print(f"  {file:36} {function:32} from {caller or 'the program'}")
    return 1 if bad or compiler else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

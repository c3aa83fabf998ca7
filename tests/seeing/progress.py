#!/usr/bin/env python3
"""progress.py SLOW AIRFOIL [RUN KIND]: what takes long says so on a terminal, and leaves nothing there. RUN KIND starts ranks."""
import os
import pty
import re
import subprocess
import sys
import tempfile

slow, airfoil, *ranks = sys.argv[1:]
failures = []


def check(what, true):
    if not true:
        failures.append(what)


def on_terminal(*command, **variables):
    """All that a program writes to a terminal of its own, and its status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", **variables})
        os.execv(command[0], command)
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the last process has closed it
            break
        if not piece:
            break
        text += piece
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def elsewhere(*command, **variables):
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def screen(text):
    """The lines that a terminal shows in the end: of what it can do only what is written is known here."""
    lines, line, column, kept, unknown = [], [], 0, 0, []
    for part in re.findall(r"\x1b7|\x1b8|\x1b\[[?0-9;]*[a-zA-Z]|\x1b.|[^\x1b]", text):
        if part == "\x1b7":
            kept = column
        elif part == "\x1b8":
            column = kept
        elif part == "\x1b[K":
            del line[column:]
        elif part == "\r":
            column = 0
        elif part == "\n":
            lines.append("".join(line).rstrip())
            line, column = [], 0
        elif part[0] == "\x1b":
            unknown += [part] if part not in ("\x1b[?7l", "\x1b[?7h", "\x1b[1m", "\x1b[2m", "\x1b[0m") else []
        else:
            line[column:column + 1] = [part]
            column += 1
    check(f"unknown to the terminal: {unknown}", not unknown)
    return lines + ["".join(line)]


def compiling(folder):
    command = [airfoil, "--cells", "2000", "--iters", "4", "OP2_BACKEND=openmp", "OP2_THREADS=2", "OP2_TUNE=off"]
    home = {"XDG_CACHE_HOME": folder + "/a"}
    text, status = on_terminal(*command, **home)
    said = re.findall(r"op2jit: (compiling kernel \w+ \([^)]*\), number \d+)", text)
    names = [s.split()[2] for s in said]
    check(f"it fails: {text}", status == 0)
    check(f"kernels: {said}", names == ["save_soln", "adt_calc", "res_calc", "bres_calc", "update", "find_largest"])
    check(f"numbers: {said}", [s.split()[-1] for s in said] == ["1", "2", "3", "4", "5", "6"])
    check("what is proved is said", text.count("op2jit: proving kernel") == 6)
    left = screen(text)
    check(f"what is left on the screen: {left}", not any("op2jit:" in line for line in left))
    check(f"what the program wrote: {left}", any(line.startswith("airfoil: PASSED") for line in left))
    text, status = on_terminal(*command, **home)
    check(f"nothing is compiled, and nothing said: {text}", status == 0 and "op2jit:" not in text and "\x1b7" not in text)
    for number, variables in enumerate(({"OP2_PROGRESS": "off"}, {"TERM": "dumb"}, {"TERM": ""})):
        text, status = on_terminal(*command, XDG_CACHE_HOME=f"{folder}/off{number}", **variables)
        check(f"{variables}: {text}", status == 0 and "op2jit:" not in text and "\x1b" not in text.replace("\x1b[", ""))
    quiet = elsewhere(*command, XDG_CACHE_HOME=folder + "/b")
    check(f"to a pipe: {quiet.stderr}", quiet.returncode == 0 and quiet.stderr == "")
    lines = elsewhere(*command, XDG_CACHE_HOME=folder + "/c", OP2_PROGRESS="on").stderr.splitlines()
    check(f"lines: {lines}", len(lines) == 12 and lines[1].startswith("op2jit: compiling kernel save_soln") and "\x1b" not in lines[1])
    wrong = elsewhere(*command, OP2_PROGRESS="perhaps")
    check(f"wrong value: {wrong.stderr}", wrong.returncode != 0 and "OP2_PROGRESS=perhaps" in wrong.stderr and "auto, on, off" in wrong.stderr)
    # A warning goes to a line of its own.
    text, status = on_terminal(*command, XDG_CACHE_HOME=folder + "/d", OP2_LOG="jit")
    check(f"lines between: {screen(text)}", sum(bool(re.match(r"op2jit: jit: kernel \w+ .*compiled in", line)) for line in screen(text)) == 6)


def tuning(folder):
    text, status = on_terminal(slow, "loops", "12", "OP2_BACKEND=openmp", "OP2_THREADS=2", "OP2_TUNE=force", XDG_CACHE_HOME=folder + "/e")
    check(f"tuning: {text}", status == 0 and re.search(r"op2jit: tuning loop grind: trying \S+", text))
    check(f"what is left: {screen(text)}", screen(text)[-2:] == ["done", ""] and not any("trying" in line for line in screen(text)))


def files(folder):
    path = folder + "/large.h5"
    text, status = on_terminal(slow, "files", path, "OP2_BACKEND=seq", OP2_CACHE="off")
    check(f"files: {text}", status == 0)
    check(f"writing: {text}", "op2jit: writing large of large.h5: 25 MB" in text)
    check(f"reading: {text}", "op2jit: reading large of large.h5: 25 MB" in text)
    check(f"the line that the program began: {screen(text)}", screen(text) == ["the file: read", "done", ""])


def parting(folder):
    done = elsewhere("bash", *ranks[:1], ranks[1], "2", slow, "loops", "1", "OP2_BACKEND=seq", XDG_CACHE_HOME=folder + "/f", OP2_PROGRESS="on")
    lines = [line for line in done.stderr.splitlines() + done.stdout.splitlines() if "op2jit: " in line]
    check(f"it fails on ranks: {done.stdout} {done.stderr}", done.returncode == 0)
    for words in ("set cells, 40000 elements, for 2 ranks", "its elements go to their ranks", "halos", "data"):
        check(f"once on two ranks: {words}: {lines}", sum(line.endswith("parting the mesh: " + words) for line in lines) == 1)


with tempfile.TemporaryDirectory() as temporary:
    compiling(temporary)
    tuning(temporary)
    files(temporary)
    if ranks:
        parting(temporary)
for failure in failures:
    print(failure)
print("failed" if failures else "progress is seen on a terminal, and nowhere else")
sys.exit(bool(failures))

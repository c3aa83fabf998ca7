#!/usr/bin/env python3
"""One hash whatever runs the loops: same.py PROGRAM ROWS MPIRUN KIND [ARGUMENT...]

ROWS is a file of runs, a line each: [RANKS:] WORDS, words of the program and variables. A line "= WORDS" begins a group: what
runs alone, on one thread, and gives the hash that the lines behind it must have. A line "! ..." must have another one: the
search finds what is not reproducible. A line "~ ..." asks for it in another way, and "? CODE ..." ends with that error. The
arguments are the program's each time; SAME_PRELOAD is put before it. SAME_GPU is a backend, which
rows call GPU; SAME_FIRST the one that gives the hash, if not seq."""
import os
import subprocess
import sys
import tempfile

program, path, mpirun, kind = sys.argv[1:5]


def run(words, folder, refused=None):
    """The last hash that a run prints, or the code of the error that it is to end with."""
    ranks = words.pop(0)[:-1] if words and words[0].endswith(":") else None
    command = ([mpirun, kind, ranks] if ranks else []) + [program] + sys.argv[5:]
    variables = dict(word.split("=", 1) for word in words if word.startswith("OP2_"))
    fresh = variables.pop("OP2_CACHE", "") == "fresh"
    environment = dict(os.environ, OP2_CACHE="off" if fresh else os.path.join(folder, "kernels.db"))
    environment.update(variables)
    if os.environ.get("SAME_PRELOAD"):
        environment["LD_PRELOAD"] = os.environ["SAME_PRELOAD"]
    command += [word for word in words if not word.startswith("OP2_")]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode and refused:
        return refused if refused in done.stderr else done.stderr
    if done.returncode:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("bits ")]
    if not found:
        sys.exit(f"{' '.join(words)}: no hash\n{done.stdout}{done.stderr}")
    return found[-1]


def main():
    wrong, known, group = [], "", []
    with tempfile.TemporaryDirectory() as folder, open(path, encoding="utf-8") as rows:
        for line in rows:
            words = line.split("#")[0].replace("=GPU", "=" + os.environ.get("SAME_GPU", "")).split()
            if not words:
                continue
            first = words[0] in ("=", "!", "~", "?") and words.pop(0)
            if first == "=":
                group = words
                first = "OP2_BACKEND=" + os.environ.get("SAME_FIRST", "seq")
                known = run(words + ["OP2_REPRODUCIBLE=on", first, "OP2_TUNE=off"], folder)
                print("=", known, line.strip())
                continue
            refused = words.pop(0) if first == "?" else None
            ranks = [words.pop(0)] if words[0].endswith(":") else []
            asked = [] if first in ("!", "~") else ["OP2_REPRODUCIBLE=on"]
            found = run(ranks + group + asked + words, folder, refused)
            print(" ", found, line.strip())
            if (found == (refused or known)) != (first != "!"):
                wrong.append(line.strip())
    if wrong:
        sys.exit("not as expected:\n  " + "\n  ".join(wrong))


main()

"""op2jit mesh convert takes the nodes' coordinates, whatever other dats of two or three reals a mesh has.

usage: points.py OP2JIT MIDDLES
"""
import os
import subprocess
import sys
import tempfile

OP2JIT, MIDDLES = (os.path.abspath(a) for a in sys.argv[1:3])
failures = []


def make(*words):
    status = subprocess.run([MIDDLES, *words], check=False).returncode
    if status:
        sys.exit(status)


def convert(*words, status=0):
    done = subprocess.run([OP2JIT, "mesh", "convert", *words], capture_output=True, text=True, check=False)
    if done.returncode != status:
        failures.append(f"{' '.join(words)}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def has_the_corners(path):
    """Five nodes at the corners and the middle of a square, and a cell."""
    with open(path, encoding="utf-8") as file:
        lines = [[float(n) for n in line.split()] for line in file]
    check(f"{path}: nodes", lines[1:6] == [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]], str(lines))
    check(f"{path}: cells", lines[0] == [5, 1, 0, 1] and lines[6] == [0, 1, 2, 3], str(lines))


def main(folder):
    plain, both, new = (os.path.join(folder, name) for name in ("a.h5", "b.h5", "c.dat"))
    make(plain)
    convert(plain, new)
    has_the_corners(new)
    # Velocities of nodes have the same form: nothing is guessed.
    make(both, "velocities")
    os.remove(new)
    said = convert(both, new, status=1)
    check("both are listed", "x (on nodes)" in said and "velocities (on nodes)" in said
          and "middle" not in said and "--coordinates DAT" in said, said)
    check("nothing is written", not os.path.exists(new))
    convert("--coordinates", "x", both, new)
    has_the_corners(new)
    said = convert("--coordinates", "nothing", both, new, status=1)
    check("what may be said", "--coordinates nothing: that is no dat" in said and "velocities" in said, said)
    convert(both, new + ".h5") # HDF5 takes all dats as they are


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
print("\n".join(failures) or "op2jit mesh convert: well")
sys.exit(1 if failures else 0)

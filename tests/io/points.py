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


def has_the_corners(path, dim):
    """Five nodes at the corners and the middle of a square, and the four triangles."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    nodes = lines.index("$Nodes")
    cells = lines.index("$Elements")
    height = 2 if dim == 3 else 0
    corners = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)]
    check(f"{path}: nodes", [tuple(float(n) for n in line.split()[1:]) for line in lines[nodes + 2:nodes + 7]] ==
          [(*corner, height) for corner in corners], "\n".join(lines))
    check(f"{path}: cells", lines[cells + 1] == "4" and lines[cells + 2].split()[1:] == ["2", "2", "0", "0", "1", "2", "5"],
          "\n".join(lines))


def main(folder):
    for dim in (2, 3):
        plain, both, new, edges = (os.path.join(folder, f"{dim}_{name}") for name in ("a.h5", "b.h5", "c.msh", "e.h5"))
        make(plain, str(dim))
        convert(plain, new)
        has_the_corners(new, dim)
        convert("--edges", plain, edges)
        info = subprocess.run([OP2JIT, "mesh", "info", edges], capture_output=True, text=True, check=True).stdout
        check("edges are made of the cells", "set   edges            4\n" in info and "set   bedges           4\n" in info, info)
        # Velocities of nodes have the same form: nothing is guessed.
        make(both, str(dim), "velocities")
        os.remove(new)
        for words in ((both, new), ("--edges", both, edges + ".none.h5"), (both, edges + ".dat")):
            said = convert(*words, status=1)
            check("both are listed", f"x ({dim} double on nodes)" in said and f"velocities ({dim} double on nodes)" in said
                  and "middle" not in said and "--coordinates DAT" in said, said)
            check("nothing is written", not os.path.exists(words[-1]))
        convert("--coordinates", "x", both, new)
        has_the_corners(new, dim)
        convert("--edges", "--coordinates=x", both, edges)
        said = convert("--coordinates", "nothing", both, new, status=1)
        check("what may be said", "--coordinates nothing: that is no dat" in said and "velocities" in said, said)
        convert(both, edges) # HDF5 takes all dats as they are


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
print("\n".join(failures) or "op2jit mesh convert: well")
sys.exit(1 if failures else 0)

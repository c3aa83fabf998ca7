"""op2jit mesh: what it says of a mesh, and of files that are none.

usage: mesh.py OP2JIT AIRFOIL
"""
import json
import os
import subprocess
import sys
import tempfile

OP2JIT, AIRFOIL = (os.path.abspath(a) for a in sys.argv[1:3])
failures = []


def run(*words, status=0):
    done = subprocess.run([OP2JIT, "mesh", *words], capture_output=True, text=True, check=False)
    if "HDF5 files cannot be used" in done.stderr:
        print("skipped:", done.stderr)
        sys.exit(77)
    if done.returncode != status:
        failures.append(f"{' '.join(words)}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def check(what, condition, shown=""):
    if not condition:
        failures.append(f"{what}\n{shown}")


def main(folder):
    def at(name):
        return os.path.join(folder, name)

    subprocess.run([AIRFOIL, "--cells", "600", "--iters", "1", "--write", at("a.h5"), "OP2_BACKEND=native", "OP2_CACHE=off"],
                   stdout=subprocess.DEVNULL, check=True)
    facts = json.loads(run("info", "--json", at("a.h5"))[0])
    check("one part", facts["components"] == 1 and not any(m["guessed"] for m in facts["maps"]), str(facts))
    plain, _ = run("info", at("a.h5"))
    check("in words", "pcell" in plain and "arity 4" in plain and "\n1 part: maps connect all elements\n" in plain, plain)
    check("sound", "0 findings" in run("check", at("a.h5"))[0])
    for name, words in (("index.xdmf", '<?xml version="1.0" ?>\n<Xdmf Version="3.0"/>\n'), ("none.dat", "")):
        with open(at(name), "w", encoding="utf-8") as file:
            file.write(words)
        said = run("info", at(name), status=1)[1]
        check("another format", f"{name}: this is not HDF5; python3 -m op2jit.mesh convert makes it of OP2's airfoil text" in said, said)
    check("no such file", "No such file" in run("info", at("none"), status=1)[1])
    said = run("info", status=2)[1]
    check("which argument", "op2jit: an argument is missing: FILE\n" in said and "usage: op2jit mesh info FILE\n" in said, said)


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
print("\n".join(failures) or "op2jit mesh: well")
sys.exit(1 if failures else 0)

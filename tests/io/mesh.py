"""op2jit mesh: every format to every other, what it says of meshes, and what is wrong with them.

usage: mesh.py OP2JIT CORPUS AIRFOIL
"""
import json
import os
import subprocess
import sys
import tempfile

OP2JIT, CORPUS, AIRFOIL = (os.path.abspath(a) for a in sys.argv[1:4])
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


def info(file):
    return json.loads(run("info", "--json", file)[0])


def facts(mesh):
    """What must not change on the way through a format, in any order."""
    return (sorted((s["name"], s["size"]) for s in mesh["sets"]),
            sorted((m["name"], m["from"], m["to"], m["arity"], m["bandwidth"], m["degree_max"], m["unused"]) for m in mesh["maps"]),
            sorted((d["name"], d["set"], d["dim"], d["type"]) for d in mesh["dats"]), mesh["components"])


def main(folder):
    def at(name):
        return os.path.join(folder, name)

    subprocess.run([AIRFOIL, "--cells", "600", "--iters", "1", "--write-mesh", at("a.dat"), "OP2_BACKEND=native", "OP2_CACHE=off"],
                   stdout=subprocess.DEVNULL, check=True)
    run("convert", at("a.dat"), at("a.h5"))
    run("convert", at("a.h5"), at("b.dat"))
    check("there and back", open(at("a.dat"), "rb").read() == open(at("b.dat"), "rb").read())
    text, hdf5 = info(at("a.dat")), info(at("a.h5"))
    check("the same facts", facts(text) == facts(hdf5), f"{text}\n{hdf5}")
    check("one part", text["components"] == 1 and not any(m["guessed"] for m in hdf5["maps"]))
    run("convert", "--to", "hdf5", at("a.dat"), at("a.anything"))
    check("the format is seen from the file", facts(info(at("a.anything"))) == facts(text))
    said, warned = run("convert", at("a.h5"), at("c.h5"))
    check("all is written", "4 of 4 sets and 7 of 7 tables" in said and warned == "", said + warned)
    plain, _ = run("info", at("a.h5"))
    check("in words", "pcell" in plain and "arity 4" in plain and "\n1 part: maps connect all elements\n" in plain, plain)
    check("sound", "0 findings" in run("check", at("a.h5"))[0])

    strange = os.path.join(CORPUS, "airfoil_strange")
    said, _ = run("check", strange, status=1)
    check("entries", "2 entries are outside; the first is entry 2 of element 0 of cells: -5, expected 0 .. 1" in said, said)
    check("values", "2 values are not finite" in said, said)
    check("check --json", json.loads(run("check", "--json", strange, status=1)[0])["count"] == 2)
    check("bad ones are not converted", "entry 2 of element 0" in run("convert", strange, at("no.h5"), status=1)[1])
    first = [m for m in info(strange)["maps"] if m["bad"]][0]["first_bad"]
    check("which", first == {"element": 0, "entry": 2, "value": -5}, str(first))
    for name, words in (("airfoil_large", "too short"), ("airfoil_cut", "too short")):
        _, said = run("info", os.path.join(CORPUS, name), status=1)
        check(f"{name} says so", words in said and name in said, said)
    with open(at("index.xdmf"), "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" ?>\n<Xdmf Version="3.0"/>\n')
    said = run("info", at("index.xdmf"), status=1)[1]
    check("known formats", all(it in said for it in ("index.xdmf: this is neither HDF5", "airfoil", "python3 -m op2jit.mesh convert reads Gmsh")), said)
    said = run("convert", at("a.dat"), status=2)[1]
    check("which argument", "op2jit: an argument is missing: NEW\n" in said and
          "usage: op2jit mesh convert [--to FORMAT] [--coordinates DAT] FILE NEW\n" in said, said)
    check("which is the first", "an argument is missing: FILE\n" in run("info", status=2)[1])
    said = run("convert", "--help")[0]
    check("options stand in columns", len({line.index(words) for line in said.splitlines()
          for words in ("hdf5 or airfoil, w", "the dat that holds", "print JSON") if words in line}) == 1, said)
    check("no such file", "No such file" in run("info", at("none"), status=1)[1])
    check("no such format", "expected hdf5" in run("convert", "--to", "vtk", at("a.dat"), at("x"), status=2)[1])
    said = run("convert", at("a.dat"), at("x.msh"), status=2)[1]
    check("no suffix", "does not say the format" in said and "python3 -m op2jit.mesh convert writes Gmsh" in said, said)
    check("nothing is left", not [f for f in os.listdir(folder) if f.endswith(".part")])


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
print("\n".join(failures) or "op2jit mesh: well")
sys.exit(1 if failures else 0)

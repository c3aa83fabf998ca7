"""op2jit mesh: every format to every other, what it says of meshes, and what is wrong with them.

usage: mesh.py OP2JIT CORPUS AIRFOIL MADE_BY_GMSH
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from gmsh_binary import binary

OP2JIT, CORPUS, AIRFOIL, MADE = (os.path.abspath(a) for a in sys.argv[1:5])
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


def edges_of(file):
    """Edges and boundary edges of OP2's text: (first cell, second cell, nodes), (cell, nodes, flag); and the places of the nodes."""
    with open(file, encoding="utf-8") as source:
        lines = [line.split() for line in source]
    nodes, cells, edges, _ = (int(n) for n in lines[0])
    rows = [[int(n) for n in line] for line in lines[1 + nodes + cells:]]
    inner = {(a, b, n, m) if a < b else (b, a, m, n) for n, m, a, b in rows[:edges]}
    return inner, {(c, n, m, flag) for n, m, c, flag in rows[edges:]}, [tuple(float(n) for n in line) for line in lines[1:1 + nodes]]


def check_edges(at):
    """Those made of the cells of airfoil's mesh are the mesh's own, as far as two cells have the same nodes: behind the wing
    a cut goes through the mesh, whose nodes are there twice."""
    run("convert", at("a.h5"), at("cells.msh"))
    said, _ = run("convert", "--edges", at("cells.msh"), at("made.dat"))
    check("edges are made", "from Gmsh 2" in said, said)
    inner, outer, places = edges_of(at("a.dat"))
    made, bounds, _ = edges_of(at("made.dat"))
    cut = inner - made
    check("edges are the mesh's", made < inner and len(cut) == 12, str(made - inner))
    check("boundary edges are the mesh's", outer < bounds and len(bounds - outer) == 2 * len(cut), str(outer - bounds))
    on_cut = {places[n] for _, _, n, m in cut} | {places[m] for _, _, n, m in cut}
    check("the rest is the cut", all(flag == 0 and places[n] in on_cut and places[m] in on_cut
                                     for _, n, m, flag in bounds - outer))
    with open(at("made.dat"), encoding="utf-8") as source, open(at("wall.dat"), "w", encoding="utf-8") as target:
        target.write(re.sub(r" 0\n", " 1\n", source.read())) # airfoil knows walls and far fields only
    subprocess.run([AIRFOIL, "--mesh", at("wall.dat"), "--iters", "1", "OP2_BACKEND=native", "OP2_CACHE=off"],
                   stdout=subprocess.DEVNULL, check=True)
    check("there are edges", "already" in run("convert", "--edges", at("a.h5"), at("no.h5"), status=1)[1])
    check("Gmsh has none", "no place for edges" in run("convert", "--edges", at("a.h5"), at("no.msh"), status=2)[1])
    run("convert", "--edges", os.path.join(MADE, "square_41_binary.msh"), at("square.h5"))
    sizes = {s["name"]: s["size"] for s in info(at("square.h5"))["sets"]}
    check("of two types", (sizes["cells"], sizes["edges"], sizes["bedges"]) == (18, 23, 12), str(sizes))


def check_names(at):
    """Names of physical groups, in text and in binary, are left out with a warning; numbers are kept."""
    for name in ("square_22_text", "square_41_binary"):
        named = os.path.join(MADE, name + ".msh")
        with open(named, "rb") as source, open(at("plain.msh"), "wb") as target:
            target.write(re.sub(rb"(?s)\$PhysicalNames.*\$EndPhysicalNames\n", b"", source.read()))
        _, plain = run("convert", at("plain.msh"), at("plain.h5"))
        _, warned = run("convert", named, at("named.h5"))
        check(f"{name}: names", plain == "" and "warning: the names of the groups ($PhysicalNames) are not in" in warned, plain + warned)
        check(f"{name}: the rest", info(at("named.h5")) == info(at("plain.h5")))
        lost = json.loads(run("convert", "--json", named, at("named.h5"))[0])["left_out"]
        check(f"{name}: in JSON", lost == [{"kind": "section", "name": "$PhysicalNames"}], str(lost))


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
    run("convert", "--to", "gmsh", at("a.h5"), at("a.anything"))
    gmsh = info(at("a.anything"))
    said, warned = run("convert", at("a.h5"), at("a.msh"))
    check("what was written", "3 of 4 sets and 4 of 7 tables written, from HDF5" in said, said)
    check("what was left out", all(f"warning: {it} is not in" in warned for it in
          ("set edges", "map pedge", "map pecell", "map pbecell")) and len(warned.splitlines()) == 4, warned)
    lost = json.loads(run("convert", "--json", at("a.h5"), at("a.msh"))[0])
    check("in JSON", (lost["sets"], lost["tables"]) == (3, 4) and
          {"kind": "set", "name": "edges"} in lost["left_out"] and len(lost["left_out"]) == 4, str(lost))
    said, warned = run("convert", at("a.h5"), at("c.h5"))
    check("all is written", "4 of 4 sets and 7 of 7 tables" in said and warned == "", said + warned)
    check("cells are quads", {s["name"]: s["size"] for s in gmsh["sets"]}["quads"] ==
          {s["name"]: s["size"] for s in text["sets"]}["cells"], str(gmsh))
    plain, _ = run("info", at("a.h5"))
    check("in words", "pcell" in plain and "arity 4" in plain and "\n1 part: maps connect all elements\n" in plain, plain)
    check("sound", "0 findings" in run("check", at("a.h5"))[0])

    for name in ("gmsh_2", "gmsh_40", "gmsh_4"):
        file = os.path.join(CORPUS, name)
        mesh = info(file)
        check(f"{name}: sets", {s["name"]: s["size"] for s in mesh["sets"]} ==
              {"nodes": 5, "lines": 1, "triangles": 1, "quads": 1}, str(mesh))
        check(f"{name}: in the plane" if name == "gmsh_2" else f"{name}: in space",
              [d["dim"] for d in mesh["dats"] if d["name"] == "x"] == [2 if name == "gmsh_2" else 3], str(mesh))
        run("convert", file, at(name + ".h5"))
        run("convert", at(name + ".h5"), at(name + ".msh"))
        run("convert", file, "--to", "gmsh", at(name + "_text.msh"))
        check(f"{name}: there and back", facts(info(at(name + ".msh"))) == facts(mesh), str(info(at(name + ".msh"))))
        for order in ("little", "big"):
            written = at(f"{name}_{order}.msh")
            with open(file, encoding="utf-8") as source, open(written, "wb") as target:
                target.write(binary(source.read(), order))
            check(f"{name} in binary, {order}", info(written) == mesh, run("info", written)[0])
            run("convert", written, at("from_binary.msh"))
            check(f"{name} in binary, {order}: converted",
                  open(at("from_binary.msh"), "rb").read() == open(at(name + "_text.msh"), "rb").read())
        groups = [line.split()[3] for line in open(at(name + ".msh")).read().split("$Elements\n")[1].split("\n")[1:4]]
        check(f"{name}: groups", sorted(groups) == (["3", "4", "7"] if name == "gmsh_2" else ["3", "3", "7"]), str(groups))

    check_edges(at)
    check("what airfoil lacks", "there is no table for" in run("convert", at("gmsh_2.h5"), at("no.dat"), status=1)[1])
    check("nothing is made", not os.path.exists(at("no.dat")))
    strange = os.path.join(CORPUS, "airfoil_strange")
    said, _ = run("check", strange, status=1)
    check("entries", "2 entries are outside; the first is entry 2 of element 0 of cells: -5, expected 0 .. 1" in said, said)
    check("values", "2 values are not finite" in said, said)
    check("check --json", json.loads(run("check", "--json", strange, status=1)[0])["count"] == 2)
    check("bad ones are not converted", "entry 2 of element 0" in run("convert", strange, at("no.h5"), status=1)[1])
    first = [m for m in info(strange)["maps"] if m["bad"]][0]["first_bad"]
    check("which", first == {"element": 0, "entry": 2, "value": -5}, str(first))
    for name, words in (("airfoil_large", "too short"), ("airfoil_cut", "too short"), ("gmsh_large", "too short"),
                        ("gmsh_binary", "byte 20: the file ends"), ("gmsh_kind", "type 99")):
        _, said = run("info", os.path.join(CORPUS, name), status=1)
        check(f"{name} says so", words in said and name in said, said)
    with open(at("index.xdmf"), "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" ?>\n<Xdmf Version="3.0"/>\n')
    said = run("info", at("index.xdmf"), status=1)[1]
    check("known formats", all(it in said for it in ("index.xdmf: this is no mesh of a known format", "HDF5", "$MeshFormat", "airfoil")), said)
    said = run("convert", at("a.dat"), status=2)[1]
    check("which argument", "op2jit: an argument is missing: NEW\n" in said and
          "usage: op2jit mesh convert [--to FORMAT] [--edges] [--coordinates DAT] FILE NEW\n" in said, said)
    check("which is the first", "an argument is missing: FILE\n" in run("info", status=2)[1])
    said = run("convert", "--help")[0]
    check("options stand in columns", len({line.index(words) for line in said.splitlines()
          for words in ("hdf5, airfoil or gmsh, w", "make edges", "the dat that holds", "print JSON") if words in line}) == 1, said)
    check_names(at)
    check("no such file", "No such file" in run("info", at("none"), status=1)[1])
    check("no such format", "expected hdf5" in run("convert", "--to", "vtk", at("a.dat"), at("x"), status=2)[1])
    check("no suffix", "does not say the format" in run("convert", at("a.dat"), at("x"), status=2)[1])
    check("nothing is left", not [f for f in os.listdir(folder) if f.endswith(".part")])


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
print("\n".join(failures) or "op2jit mesh: well")
sys.exit(1 if failures else 0)

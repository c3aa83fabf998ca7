"""python3 -m op2jit.mesh: files that Gmsh made, through formats and back, and the edges and faces of their cells."""

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

import op2jit
from op2jit.mesh.cells import Mesh, add_edges, add_kinds
from op2jit.mesh.formats import read_foreign, read_hdf5, write_foreign, write_hdf5

ROOT, BUILD = os.environ["OP2JIT_ROOT"], os.environ["OP2JIT_BUILD"]
COMMAND, AIRFOIL = (os.path.join(BUILD, *path) for path in (("runtime", "cli", "op2jit"), ("samples", "airfoil")))
SETS = ["edges", "bedges", "faces", "bfaces"]
PLATE = os.path.join(ROOT, "docs", "guide", "plate.msh")


def made_by_gmsh(name):
    return os.path.join(ROOT, "tests", "io", "gmsh", name + ".msh")


def run(*command, status=0, **more):
    words = [str(word) for word in command]
    environment = {**os.environ, **more}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert done.returncode == status, done.stdout
    return done.stdout


def mesh(*words, status=0):
    """As a command, in this process."""
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        with mock.patch("sys.argv", ["op2jit.mesh", *map(str, words)]):
            try:
                runpy.run_module("op2jit.mesh", run_name="__main__")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
                said.write(str(end.code))
    assert code == status, said.getvalue()
    return said.getvalue()


def info(file):
    return json.loads(run(COMMAND, "mesh", "info", "--json", file))


def same(one, other, but=()):
    """Sets and tables; coordinates in text have one digit less than it takes."""
    assert one.sets == other.sets and set(one.tables) - set(but) == set(other.tables) - set(but)
    for name in set(one.tables) - set(but):
        (of, target, values), (other_of, other_target, others) = one.tables[name], other.tables[name]
        assert (of, target) == (other_of, other_target), name
        assert np.allclose(values, others, rtol=0, atol=1e-14), name


# ---- what Gmsh wrote ----


@pytest.mark.parametrize("name", ["square", "solid"])
def test_one_mesh_in_all_versions(name):
    first = read_foreign(made_by_gmsh(name + "_22_text"))
    for form in ("22_binary", "41_text", "41_binary"):
        same(first, read_foreign(made_by_gmsh(f"{name}_{form}")), but=("lines_nodes", "lines_group"))


def test_what_was_asked_for():
    square, solid = (read_foreign(made_by_gmsh(name)) for name in ("square_41_text", "solid_22_binary"))
    assert square.sets == {"nodes": 18, "lines": 12, "triangles": 14, "quads": 4}
    assert square.tables["x"][2].shape == (18, 2) and solid.tables["x"][2].shape == (16, 3)
    assert set(square.tables["quads_group"][2][:, 0]) == {21} and set(square.tables["triangles_group"][2][:, 0]) == {22}
    assert solid.sets == {"nodes": 16, "quads": 1, "tets": 6, "wedges": 2, "hexes": 1}
    groups = [solid.tables[kind + "_group"][2][0, 0] for kind in ("hexes", "wedges", "tets", "quads")]
    assert groups == [41, 42, 43, 31]


# ---- edges and faces ----


@pytest.mark.parametrize("name", ["square", "solid"])
def test_sides_are_those_that_the_command_made(name):
    """edges.json has what op2jit mesh convert --edges made, when it was part of the command. Faces of three nodes and of
    four had a set each, and kinds of cells that are not there had none."""
    with open(os.path.join(ROOT, "tests", "python", "edges.json"), encoding="utf-8") as file:
        expected = json.load(file)[name]
    for form in ("22_text", "22_binary", "41_text", "41_binary"):
        found = read_foreign(made_by_gmsh(f"{name}_{form}"))
        before = {*found.sets, *found.tables}
        add_edges(found)
        made = {of: [size] for of, size in found.sets.items()}
        made.update({table: values.tolist() for table, (_, _, values) in found.tables.items()})
        for of in [of for of in ("faces", "bfaces") if of in made]:
            nodes = found.tables[of + "_nodes"][2]
            three = nodes[:, 2] == nodes[:, 3]
            for word, which, width in [("tri_", three, 3), ("quad_", ~three, 4)]:
                made[word + of] = [int(which.sum())]
                for table in [table for table in found.tables if table.startswith(of + "_")]:
                    made[word + table] = found.tables[table][2][which][:, :width].tolist()
                    made.pop(table, None)
            del made[of]
        if name == "solid":
            assert [made.pop(none) for none in ("pyramids", "pyramids_nodes", "pyramids_cell")] == [[0], [], []]
        assert {table: values for table, values in made.items() if table not in before} == expected


def area(places):
    """Out of the first cell, as long as the side is large; in the plane as airfoil's kernels have it."""
    if places.shape[1] == 2:
        (a, b), (c, d) = places
        return np.array([b - d, c - a])
    return np.cross(places[2] - places[0], places[3] - places[1]) / 2


@pytest.mark.parametrize(
    "name, dimension, sides, sizes",
    [("square_22_text", 2, 14 * 3 + 4 * 4, {11: 4, 12: 1, 13: 1, 0: 0}), ("square_41_binary", 2, 58, {11: 4, 0: 0}),
     ("parted_22_text", 2, 58, {11: 4}), ("parted_22_binary", 2, 58, {11: 4}),
     ("solid_22_binary", 3, 6 * 4 + 2 * 5 + 6, {31: 1}), ("solid_41_text", 3, 40, {31: 1})],
)  # fmt: skip
def test_cells_are_closed(name, dimension, sides, sizes):
    """The sides of a cell, out of it, add up to nothing, and give its volume; sides of a group have their size."""
    found = read_foreign(made_by_gmsh(name))
    add_edges(found)
    x, cells = found.tables["x"][2], found.sets["cells"]
    volume, total, seen, of_group = np.zeros(cells), np.zeros((cells, dimension)), 0, {}
    for of in [name for name in SETS if name in found.sets]:
        both = found.tables.get(of + "_cells") or found.tables[of + "_cell"]
        for i, nodes in enumerate(found.tables[of + "_nodes"][2]):
            out = area(x[nodes])
            for cell, sign in zip(both[2][i], (1, -1)):
                total[cell] += sign * out
                volume[cell] += sign * x[nodes].mean(axis=0) @ out / dimension
                seen += 1
            if of + "_group" in found.tables:
                group = found.tables[of + "_group"][2][i, 0]
                of_group[group] = of_group.get(group, 0) + np.linalg.norm(out)
    assert seen == sides and abs(total).max() < 1e-12 and volume.min() > 1e-3
    assert abs(volume.sum() - (2 if dimension == 2 else 3)) < 1e-12
    assert all(abs(of_group.get(group, 0) - size) < 1e-12 for group, size in sizes.items())


POINTS = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]]


def made_of(dim=2, **cells):
    found = Mesh({"nodes": 5})
    found.add("x", "nodes", np.pad(np.array(POINTS, float), ((0, 0), (0, dim - 2))))
    for of, rows in cells.items():
        found.add_set(of, len(rows))
        found.add(of + "_nodes", of, np.array(rows), "nodes")
    return found


def test_the_first_cell_is_on_the_right():
    """Whichever way round its nodes go."""
    for row, expected in [([0, 1, 2, 3], [1, 0, 2, 1, 3, 2, 0, 3]), ([3, 2, 1, 0], [3, 2, 2, 1, 1, 0, 0, 3])]:
        found = made_of(quads=[row])
        add_edges(found)
        assert found.sets == {"nodes": 5, "quads": 1, "edges": 0, "bedges": 4}  # quads are the cells
        assert found.tables["bedges_nodes"][2].ravel().tolist() == expected


def test_faces_go_round_the_way_out():
    """Whichever way the nodes of their cells go: the boundary has the volume of the solid."""
    turned = {"tets": [1, 0, 2, 3], "pyramids": [0, 3, 2, 1, 4], "wedges": [3, 4, 5, 0, 1, 2]}
    turned["hexes"] = [4, 5, 6, 7, 0, 1, 2, 3]
    for of in ["", *turned]:
        found = read_foreign(made_by_gmsh("solid_22_text"))
        if of in found.sets:
            table = found.tables[of + "_nodes"][2]
            table[:] = table[:, turned[of]]
        add_edges(found)
        places = found.tables["x"][2][found.tables["bfaces_nodes"][2]]
        assert abs(sum(side.mean(axis=0) @ area(side) for side in places) / 3 - 3) < 1e-12


def test_a_quadrilateral_that_has_shrunk_to_a_triangle():
    found = made_of(quads=[[0, 1, 2, 2]], triangles=[[0, 2, 3]])
    add_edges(found)
    assert (found.sets["edges"], found.sets["bedges"], found.sets["cells"]) == (1, 4, 2)
    assert found.tables["edges_cells"][2].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    "dim, cells, words",
    [(2, {"lines": [[0, 1]]}, "no cells"), (2, {"quads": [[0, 1, 0, 1]]}, "sides of the cells [0, 0, 0, 0]"),
     (2, {"triangles": [[0, 1, 2], [0, 1, 3], [0, 1, 4]]}, "nodes 1 and 0 are on sides of the cells [0, 1, 2]"),
     (3, {"tets": [[0, 1, 2, 2]]}, "cell 0 of tets names a node twice"),
     (2, {"quads": [[0, 1, 2, 3]], "edges": []}, '"edges" already')],
)  # fmt: skip
def test_no_such_mesh(dim, cells, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        add_edges(made_of(dim, **cells))


def test_sides_of_airfoil_are_its_own(tmp_path):
    """But for a cut behind the wing, whose nodes are there twice."""
    if not os.path.exists(AIRFOIL):
        pytest.skip("the samples are not built")
    names = ("a.dat", "a.h5", "again.dat", "cells.msh", "made.h5", "made.dat")
    text, h5, again, cells, made, new = (tmp_path / name for name in names)
    run(AIRFOIL, "--cells", "600", "--iters", "1", "--write-mesh", text, OP2_BACKEND="native", OP2_CACHE="off")
    mesh("convert", text, h5)
    assert "0 findings" in run(COMMAND, "mesh", "check", h5)
    mesh("convert", h5, again)
    assert text.read_bytes() == again.read_bytes()
    mesh("convert", h5, cells)
    mesh("convert", "--edges", cells, made)
    assert "left out, the format has no place for it: quads_group" in mesh("convert", made, new)

    def sides(file):
        lines = [[int(word) for word in line.split()] for line in file.read_text().splitlines() if "." not in line]
        edges = lines[-sum(lines[0][2:]) :]
        inner = {(a, b, n, m) if a < b else (b, a, m, n) for n, m, a, b in edges[: lines[0][2]]}
        return inner, {(cell, n, m) for n, m, cell, _ in edges[lines[0][2] :]}

    (inner, outer), (found, bounds) = sides(text), sides(new)
    assert found < inner and len(inner - found) == 12
    assert outer < bounds and len(bounds - outer) == 2 * 12


# ---- through files ----


def test_through_formats(tmp_path):
    for name in ("square_41_binary", "solid_22_text"):
        first = read_foreign(made_by_gmsh(name))
        for suffix in ("hdf5", "msh", "vtu", "vtk", "xdmf"):
            there, back = tmp_path / f"{name}.{suffix}", tmp_path / f"{name}_{suffix}.h5"
            said = mesh("convert", made_by_gmsh(name), there)
            named = suffix in ("hdf5", "msh")
            words = "names of groups are left out, numbers are kept"
            assert named == (words not in said) == (("21 is fluid" if name[1] == "q" else "31 is bottom") not in said)
            mesh("convert", there, back)
            same(first, read_hdf5(back))
            assert read_hdf5(back).groups == (first.groups if named else {})
            assert "0 findings" in run(COMMAND, "mesh", "check", back)
            assert not any(it["guessed"] for it in info(back)["maps"])
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_the_library_and_the_module_read_each_other(tmp_path, running):
    """Types of all widths, results on the set of all cells, and what is on no set."""
    made, results, vtu, again = (str(tmp_path / name) for name in ("made.h5", "results.h5", "results.vtu", "again.h5"))
    first = read_foreign(made_by_gmsh("square_22_text"))
    add_edges(first)
    write_hdf5(first, made)
    assert "0 findings" in run(COMMAND, "mesh", "check", made)
    names = ("nodes", "cells", "quads", "triangles")
    nodes, cells, quads, triangles = (op2jit.files.load_set(made, name) for name in names)
    for of, arity in ((quads, 4), (triangles, 3)):
        op2jit.files.load_map(of, nodes, arity, made, of.name + "_nodes")
        op2jit.files.load_map(of, cells, 1, made, of.name + "_cell")
    x = op2jit.files.load_dat(nodes, 2, "float64", made, "x")
    assert np.array_equal(x.fetch(), first.tables["x"][2])
    flags = op2jit.Dat(cells, np.arange(18) % 2 == 0, name="even")
    speed = op2jit.Dat(cells, np.arange(36.0).reshape(18, 2), name="speed")
    op2jit.dump(results, x, flags, speed)
    op2jit.files.save_const(results, "gamma", 1.4)
    said = mesh("convert", results, vtu)
    assert "left out, on no set of the file: gamma" in said
    mesh("convert", vtu, again)
    found = read_hdf5(again)
    assert found.tables["triangles_speed"][2].tolist() == speed.fetch()[:14].tolist()
    assert found.tables["quads_even"][2].ravel().tolist() == [True, False] * 2


def test_a_file_of_op2_that_names_no_sets(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is missing; ./dev test --with python installs it")
    old, new, vtu = (tmp_path / name for name in ("old.h5", "new.h5", "a.vtu"))
    with h5py.File(old, "w") as file:
        for name, values in {"nodes": [3], "cells": [1], "pcell": [[0, 1, 2]], "x": [[0.0, 0], [1, 0], [0, 1]]}.items():
            file[name] = np.array(values, float if name == "x" else np.int32)
            if np.ndim(values) == 2:
                file[name].attrs.update({"size": len(values), "dim": len(values[0])})
        file["five"] = np.arange(5.0)
    assert "left out, on no set of the file: five" in mesh("convert", old, new)
    assert "0 findings" in run(COMMAND, "mesh", "check", new) and not any(it["guessed"] for it in info(new)["maps"])
    mesh("convert", old, vtu)
    assert read_foreign(str(vtu)).sets == {"nodes": 3, "triangles": 1}


SQUARE = ["4 1 0 1", "0 0", "1 0", "1 1", "0 1", "0 1 2 3", "0 1 0 1"]


@pytest.mark.parametrize(
    "line, by, words",
    [(6, "0 1 0 x", 'a.dat, line 7: "x" is not a number'), (0, "4 1 0 9", "too short for 9 bedges"),
     (0, "4 1 0.5 1", "begins with the numbers of nodes"), (5, "0 1 2 4", "map pcell has entries outside of nodes"),
     (6, "0 1 0 1 1", "something follows the last boundary edge"), (5, "0 1 2 0.5", "something else than whole numbers")],
)  # fmt: skip
def test_airfoil_text_that_is_damaged(tmp_path, line, by, words):
    text = tmp_path / "a.dat"
    text.write_text("\n".join(SQUARE))
    mesh("convert", text, tmp_path / "a.h5")
    lines = list(SQUARE)
    lines[line] = by
    text.write_text("\n".join(lines))
    assert words in mesh("convert", text, tmp_path / "b.h5", status=2)
    assert sorted(os.listdir(tmp_path)) == ["a.dat", "a.h5"]


def test_what_the_command_finds(tmp_path):
    """Bad entries and values in a file, which are counted, and the first of which is named."""
    h5py = pytest.importorskip("h5py", reason="h5py is missing; ./dev test --with python installs it")
    file = tmp_path / "a.h5"
    made = made_of(quads=[[0, 1, 2, 3], [1, 2, 3, 4]])
    write_hdf5(made, str(file))
    with h5py.File(file, "r+") as opened:
        opened["quads_nodes"][0, 2:] = [-5, 9]
        opened["x"][1, 0] = np.nan
    said = run(COMMAND, "mesh", "check", file, status=1)
    assert "2 entries are outside; the first is entry 2 of element 0 of quads: -5, expected 0 .. 4" in said
    assert "1 value is not finite" in said and "2 findings" in said
    assert info(file)["maps"][0]["first_bad"] == {"element": 0, "entry": 2, "value": -5}


def test_the_lines_of_a_boundary_are_written_once(tmp_path):
    made, back = tmp_path / "made.h5", tmp_path / "back.msh"
    mesh("convert", "--edges", made_by_gmsh("square_22_text"), made)
    mesh("convert", made, back)
    assert read_foreign(str(back)).sets == {"nodes": 18, "lines": 12, "triangles": 14, "quads": 4}
    alone = read_hdf5(str(made))  # those that were made of the cells stand in where the file has none
    for name in ("lines_nodes", "lines_group"):
        del alone.tables[name]
    del alone.sets["lines"]
    write_foreign(alone, str(back))
    found = read_foreign(str(back))
    assert np.array_equal(found.tables["lines_group"][2], alone.tables["bedges_group"][2])


def test_kinds_of_boundaries(tmp_path):
    """By names and numbers of groups, in the plane and in space, also of a file of HDF5."""
    square, solid = made_by_gmsh("square_41_binary"), made_by_gmsh("solid_22_text")
    made, kinds = tmp_path / "made.h5", tmp_path / "kinds.h5"
    mesh("convert", square, made)
    said = ["--edges", "--boundary", "wall=wall", "--boundary", "7=inlet,13"]
    for file in (square, made):
        mesh("convert", *said, file, kinds)
        found = read_hdf5(str(kinds)).data_of("bedges")
        assert sorted(zip(found["group"], found["kind"])) == [(11, 1)] * 8 + [(12, 7)] * 2 + [(13, 7)] * 2
    mesh("convert", "--edges", "--boundary", "slip=bottom", "--boundary", "far=0", solid, kinds)
    found = read_hdf5(str(kinds))
    assert found.sets["bfaces"] == 20 and found.tables["bfaces_kind"][2].sum() == 2
    assert "0 findings" in run(COMMAND, "mesh", "check", kinds)
    for words, wrong in [
        (["far=none"], "the group none is none of wall (11), inlet (12), outlet (13)"),
        (["far=wall", "slip=11"], "the group 11 has a kind already"),
        (["far=wall,12"], "sides of bedges have no kind: 2 of group outlet (13); 0 is no group"),
        (["rough=wall"], "expected KIND=GROUP,...; a kind is far, wall, slip, outflow, symmetry or a number"),
        (["wall"], "expected KIND=GROUP"), (["4294967297=wall"], "expected KIND=GROUP"),
    ]:
        options = [word for one in words for word in ("--boundary", one)]
        assert wrong in mesh("convert", "--edges", *options, square, kinds, status=2)
    assert "give both" in mesh("convert", "--boundary", "far=wall", square, kinds, status=2)


def test_faces_of_three_and_four_nodes_are_written(tmp_path):
    """Those that were made of the cells, where the file has none of its own."""
    found = read_foreign(made_by_gmsh("solid_22_text"))
    add_edges(found)
    add_kinds(found, ["wall=31", "far=0"])
    for name in ("quads_nodes", "quads_group"):
        del found.tables[name]
    del found.sets["quads"]
    write_foreign(found, str(tmp_path / "a.vtu"))
    back = read_foreign(str(tmp_path / "a.vtu"))
    assert back.sets == {"nodes": 16, "triangles": 12, "quads": 8, "tets": 6, "wedges": 2, "hexes": 1}
    kinds = found.tables["bfaces_kind"][2]
    nodes = found.tables["bfaces_nodes"][2][kinds[:, 0] == 1]
    assert len(nodes) == 1 and np.array_equal(back.tables["quads_nodes"][2][back.tables["quads_kind"][2][:, 0] == 1], nodes)


def test_drawings(tmp_path):
    made, svg, png = tmp_path / "made.h5", tmp_path / "made.svg", tmp_path / "made.png"
    mesh("convert", "--edges", made_by_gmsh("square_22_text"), made)
    pictures = {(): "number of the cell", ("--of", "group"): "group", ("--of", "x", "--component", 1): "x"}
    for words, title in pictures.items():
        mesh("draw", *words, made, svg)
        text = svg.read_text()
        cells = text.split('id="PolyCollection_1"')[1].split("</g>")[0]
        assert f"<!-- {title} -->" in text and cells.count("<path") == 18
    mesh("draw", PLATE, png)
    assert png.read_bytes().startswith(b"\x89PNG")


def test_what_is_wrong_is_said(tmp_path):
    square, solid = made_by_gmsh("square_22_text"), made_by_gmsh("solid_22_text")
    made, other, text, cut, bad = (tmp_path / name for name in ("made.h5", "other.h5", "mesh.dat", "cut.h5", "bad.msh"))
    mesh("convert", "--edges", square, made)
    text.write_text("")
    bad.write_text("garbage")
    cut.write_bytes(made.read_bytes()[:5000])
    for words, said in [
        (("convert", "none.msh", other), "op2jit.mesh: none.msh: No such file"),
        (("convert", square, tmp_path / "none" / "a.h5"), f"op2jit.mesh: {tmp_path}/none/a.h5: No such file"),
        (("convert", bad, other), f"op2jit.mesh: meshio does not read {bad}: Error: Couldn't read file"),
        (("convert", made, tmp_path / "a.none"), "meshio does not write"),
        *[(("convert", made_by_gmsh(name), other), "of Gmsh it reads versions 2.2 and 4.1, of 4.1 no parts")
          for name in ("square_40_text", "solid_40_text", "parted_40_text", "parted_41_text", "parted_41_binary")],
        (("convert", text, other), "begins with the numbers of nodes, cells, edges and boundary edges"),
        (("convert", square, tmp_path / "a.dat"), "there is no table like pedge"),
        (("convert", "--edges", square, tmp_path / "a.vtu"), "no place for edges"),
        (("convert", "--edges", made, other), 'the mesh has "cells" already'),
        (("convert", made, made), "name another file"),
        (("convert", "--coordinates", "y", made, tmp_path / "a.vtu"), "y: expected a dat of 2 or 3 columns: x"),
        (("draw", "--of", "none", made, tmp_path / "a.svg"), "expected one of x, group"),
        (("draw", solid, tmp_path / "a.svg"), "not in the plane"),
        (("draw", "--of", "group", "--component", 1, made, tmp_path / "a.svg"), "component 1: there are 1"),
        (("convert", cut, other), "cut.h5: "),
        (("draw", made, tmp_path / "a.none"), "not supported"),
    ]:  # fmt: skip
        found = mesh(*words, status=2)
        assert said in found and len([line for line in found.splitlines() if "warning" not in line]) == 2, words
    assert sorted(os.listdir(tmp_path)) == ["bad.msh", "cut.h5", "made.h5", "mesh.dat"]
    assert "expected" not in mesh("--help") and "usage: python3 -m op2jit.mesh convert" in mesh("convert", "--help")
    mesh("convert", square, status=2)


def test_elements_that_are_not_of_first_order(tmp_path):
    meshio = pytest.importorskip("meshio", reason="meshio is missing; ./dev test --with python installs it")
    curved = meshio.Mesh(np.zeros((6, 3)), [("triangle6", np.arange(6).reshape(1, 6))])
    meshio.write(tmp_path / "curved.vtu", curved)
    said = mesh("convert", tmp_path / "curved.vtu", tmp_path / "a.h5", status=2)
    assert "elements of type triangle6; expected those of first order" in said


def test_entries_that_are_not_there(tmp_path):
    meshio = pytest.importorskip("meshio", reason="meshio is missing; ./dev test --with python installs it")
    meshio.write(tmp_path / "wrong.vtu", meshio.Mesh(np.zeros((3, 3)), [("triangle", np.array([[0, 1, 7]]))]))
    said = mesh("convert", tmp_path / "wrong.vtu", tmp_path / "a.h5", status=2)
    assert "map triangles_nodes has entries outside of nodes" in said


@pytest.mark.parametrize("module", ["meshio", "h5py", "matplotlib"])
def test_a_missing_module_is_named(tmp_path, module):
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('not here', name='{module}')\n")
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    words = ["draw", PLATE, tmp_path / "a.svg"] if module == "matplotlib" else ["convert", PLATE, tmp_path / "a.h5"]
    said = run(sys.executable, "-m", "op2jit.mesh", *words, status=2, PYTHONPATH=path)
    assert f"there is no module {module} for {sys.executable} (Debian: python3-{module})" in said


def test_the_page(tmp_path):
    """The commands of docs/files.md, on a mesh of that name."""
    with open(os.path.join(ROOT, "docs", "files.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    os.symlink(PLATE, tmp_path / "mesh.msh")
    os.symlink(COMMAND, tmp_path / "op2jit")
    os.symlink(sys.executable, tmp_path / "python3")
    for block in blocks:
        run("bash", "-c", f"cd '{tmp_path}' && set -e\n{block}", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert len(blocks) == 1 and {"mesh.h5", "mesh.svg", "mesh.png", "mesh.vtu"} < set(os.listdir(tmp_path))

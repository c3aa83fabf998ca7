"""Files for ParaView: the index is XML whose every reference leads to a dataset of that shape, type and content. With
--paraview ParaView opens it.

usage: vtk.py VTK_STEPS [--paraview]   (h5dump reads the datasets; status 77 where a tool is missing)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

TYPES = {("Float", "8"): "H5T_IEEE_F64LE", ("Float", "4"): "H5T_IEEE_F32LE", ("Int", "4"): "H5T_STD_I32LE",
         ("Int", "8"): "H5T_STD_I64LE", ("UInt", "4"): "H5T_STD_U32LE", ("UChar", "1"): "H5T_STD_U8LE",
         ("Char", "1"): "H5T_STD_I8LE", ("Short", "2"): "H5T_STD_I16LE"}


def dump(file, dataset):
    """Shape, type and numbers of a dataset, by HDF5's own tool."""
    said = subprocess.run(["h5dump", "-y", "-w", "1000000", "-m", "%.17g", "-d", dataset, file], capture_output=True, text=True,
                          check=True).stdout
    shape = [int(n) for n in re.search(r"SIMPLE \{ \( ([0-9, ]+) \)", said).group(1).split(",")]
    numbers = [float(n) for n in re.search(r"DATA \{(.*?)\n   \}", said, re.S).group(1).replace(",", " ").split()]
    return shape, re.search(r"DATATYPE +(\S+)", said).group(1), numbers


class Index:
    def __init__(self, folder, name):
        self.folder = folder
        self.root = tree.parse(os.path.join(folder, name)).getroot()
        self.items = 0
        assert self.root.tag == "Xdmf", self.root.tag

    def numbers(self, item):
        """What a DataItem refers to, which must be as it says."""
        file, dataset = item.text.strip().split(":")
        shape, kind, numbers = dump(os.path.join(self.folder, file), dataset)
        said = [int(n) for n in item.get("Dimensions").split()]
        assert shape == said, (item.text, shape, said)
        assert kind == TYPES[item.get("NumberType"), item.get("Precision")], (item.text, kind)
        self.items += 1
        return numbers

    def grids(self):
        return [g for g in self.root.iter("Grid") if g.get("GridType") == "Uniform"]

    def field(self, grid, name):
        found = [a for a in grid.findall("Attribute") if a.get("Name") == name]
        assert len(found) == 1, (name, len(found))
        return found[0], self.numbers(found[0].find("DataItem"))


def check_steps(folder):
    index = Index(folder, "quads.xdmf")
    grids = index.grids()
    assert [g.find("Time").get("Value") for g in grids] == ["0", "1", "2", "3", "4"], "steps"
    for step, grid in enumerate(grids):
        topology = grid.find("Topology")
        assert topology.get("TopologyType") == "Quadrilateral" and topology.get("NumberOfElements") == "4"
        cells = index.numbers(topology.find("DataItem"))
        assert cells == [0, 1, 4, 3, 1, 2, 5, 4, 3, 4, 7, 6, 4, 5, 8, 7], cells
        assert topology.find("DataItem").text.startswith("quads.000000.h5:"), "cells are written once"
        points = grid.find("Geometry").find("DataItem")
        shift = 10 if step >= 3 else 0
        want = [n + shift for j in range(3) for i in range(3) for n in (i, j)]
        assert index.numbers(points) == want, step
        # They are written again when they moved, and when the mesh was renumbered.
        assert points.text.startswith(f"quads.{step if 2 <= step <= 3 else 3 if step > 3 else 0:06d}.h5:"), points.text
        q, values = index.field(grid, 'q <of> "cells"')
        assert values == [100 * step + c for c in range(4)] and q.get("Center") == "Cell"
        velocity, values = index.field(grid, "velocity")
        assert velocity.get("AttributeType") == "Vector" and velocity.get("Center") == "Node"
        assert values == [n for j in range(3) for i in range(3) for n in (j, i, 0)], values
        state, values = index.field(grid, "state")
        assert state.get("AttributeType") == "Matrix" and values == [10 * c + k for c in range(4) for k in range(4)]
        assert index.field(grid, "flag")[1] == [0, 1, 0, 1]
    assert index.items == 5 * 6
    assert len(Index(folder, "single.xdmf").grids()) == 1
    index = Index(folder, "points.xmf")
    assert index.grids()[0].find("Topology").get("TopologyType") == "Quadrilateral"


def check_times(folder):
    series, alone, none = (Index(folder, name + ".xdmf").grids() for name in ("times", "time", "single"))
    assert [g.find("Time").get("Value") for g in series] == ["0", "0.1", "12.5", "1e-30", "-0.6666666666666666"], "times"
    assert [g.get("Name") for g in series] == [f"step {step}" for step in range(5)], "names"
    assert [g.find("Time").get("Value") for g in alone] == ["1000000"], "a time without a series"
    assert [g.find("Time") for g in none] == [None], "no series, no time"


def check_mixed(folder):
    index = Index(folder, "mixed.xdmf")
    grid = index.grids()[0]
    topology = grid.find("Topology")
    assert topology.get("TopologyType") == "Mixed" and topology.get("NumberOfElements") == "5"
    assert index.numbers(topology.find("DataItem")) == [6, 0, 1, 3, 4, 7, 0, 1, 2, 3, 6, 8, 0, 1, 3, 4, 5, 7,
                                                        9, 0, 1, 2, 3, 4, 5, 6, 7, 4, 0, 1, 2]
    p = index.field(grid, "p")[1]
    assert p[0] == 1 and p[1] == 2 and p[2] != p[2] and p[3:] == [4, 5], p
    assert index.field(grid, "number")[1] == [0, 0, 7, 0, 0]
    for name, form, nodes in (("shell", "Quadrilateral", None), ("hexagon", "Polygon", "6"), ("heptagon", "Polygon", "7"), ("lines", "Polyline", "2")):
        index = Index(folder, name + ".xdmf")
        topology = index.grids()[0].find("Topology")
        assert topology.get("TopologyType") == form and topology.get("NodesPerElement") == nodes, name
        index.numbers(topology.find("DataItem"))
        index.numbers(index.grids()[0].find("Geometry").find("DataItem"))


def check_polygons(folder):
    for name in ("polygons", "renumbered"):
        index = Index(folder, name + ".xdmf")
        grid = index.grids()[0]
        topology = grid.find("Topology")
        assert topology.get("TopologyType") == "Mixed" and topology.get("NumberOfElements") == "3"
        cells = index.numbers(topology.find("DataItem"))
        assert cells == [3, 3, 0, 1, 2, 3, 5, 0, 2, 3, 4, 5, 3, 4, 0, 1, 3, 4], cells
        assert index.field(grid, "value")[1] == [1, 2, 3]


def check_solids(folder):
    faces = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [1, 8, 2], [5, 9, 6], [1, 8, 9, 5],
             [8, 2, 6, 9]]
    expected = [n for own in ([0, 1, 2, 3, 4, 5], [6, 7, 3, 8, 9])
                for n in [16, len(own)] + [m for f in own for m in [len(faces[f])] + faces[f]]]
    for name in ("solids", "solids renumbered"):
        index = Index(folder, name + ".xdmf")
        topology = index.grids()[0].find("Topology")
        assert topology.get("TopologyType") == "Mixed" and topology.get("NumberOfElements") == "2"
        cells = index.numbers(topology.find("DataItem"))
        assert cells == expected, cells
        assert index.field(index.grids()[0], "value")[1] == [7, 8]


def check_restart(program, folder):
    """A second run begins again at step 0; what was there is gone, and a run that goes on keeps it."""
    before = len(Index(folder, "quads.xdmf").grids())
    subprocess.run([program, folder], check=True)
    index = Index(folder, "quads.xdmf")
    assert len(index.grids()) == before
    for item in index.root.iter("DataItem"):
        index.numbers(item)
    assert not [f for f in os.listdir(folder) if f.endswith(".part")], "nothing is left over"


def write_step(program, folder, name, step):
    done = subprocess.run([program, folder, name, str(step)], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def check_damaged(program, folder):
    """An index whose end is missing is an error, and stays as it is."""
    path = os.path.join(folder, "cut.xdmf")
    for step in range(4):
        assert write_step(program, folder, "cut", step) == (0, "")
    with open(path, "r+", encoding="utf-8") as file:
        text = file.read()
        file.truncate(text.index("<Topology", text.index("<!-- step 2 -->")))
    status, said = write_step(program, folder, "cut", 4)
    assert status and f"{path} is damaged: its end is missing" in said, said


def check_foreign(program, folder):
    """What somebody else wrote is left alone, and nothing is written beside it."""
    path = os.path.join(folder, "foreign.xdmf")
    for text in ('<?xml version="1.0"?>\n<Xdmf Version="3.0"/>\n', "precious"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for step in (-1, 0):
            status, said = write_step(program, folder, "foreign", step)
            assert status and f"{path}: op_write_vtk did not write this file and does not replace it" in said, said
        with open(path, encoding="utf-8") as file:
            assert file.read() == text
    assert [f for f in os.listdir(folder) if f.startswith("foreign")] == ["foreign.xdmf"], os.listdir(folder)
    with open(path, "w", encoding="utf-8"):
        pass
    assert write_step(program, folder, "foreign", 0) == (0, ""), "an empty file is no loss"


PARAVIEW = """
import sys
from paraview import servermanager
from paraview.simple import OpenDataFile
def read(name, time=None):
    reader = OpenDataFile(sys.argv[1] + "/" + name)
    reader.UpdatePipeline() if time is None else reader.UpdatePipeline(time)
    return reader, servermanager.Fetch(reader)
def values(array):
    return [array.GetComponent(i, c) for i in range(array.GetNumberOfTuples()) for c in range(array.GetNumberOfComponents())]
reader, _ = read("quads.xdmf")
assert list(reader.TimestepValues) == [0, 1, 2, 3, 4]
for step in range(5):
    grid = read("quads.xdmf", step)[1]
    assert grid.GetNumberOfCells() == 4 and grid.GetNumberOfPoints() == 9
    assert grid.GetPoint(4) == ((11, 11, 0) if step >= 3 else (1, 1, 0))
    cells, points = grid.GetCellData(), grid.GetPointData()
    assert values(cells.GetArray('q <of> "cells"')) == [100 * step + c for c in range(4)]
    assert values(cells.GetArray("state")) == [10 * c + k for c in range(4) for k in range(4)]
    assert values(cells.GetArray("flag")) == [0, 1, 0, 1]
    assert values(points.GetArray("velocity")) == [n for j in range(3) for i in range(3) for n in (j, i, 0)]
kinds = {"mixed.xdmf": [10, 14, 13, 12, 5], "shell.xdmf": [9], "hexagon.xdmf": [7], "heptagon.xdmf": [7], "lines.xdmf": [4, 4],
         "single.xdmf": [9] * 4, "points.xmf": [9] * 4, "polygons.xdmf": [7] * 3, "solids.xdmf": [42] * 2}
for name, expected in kinds.items():
    grid = read(name)[1]
    assert [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())] == expected, name
print("opened by ParaView")
"""


def check_paraview(folder):
    """By ParaView itself: steps, cells, points and values."""
    if not shutil.which("pvpython"):
        print("skipped: there is no pvpython (Debian: paraview, python3-paraview)")
        sys.exit(77)
    script = os.path.join(folder, "read.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(PARAVIEW)
    done = subprocess.run(["pvpython", script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "opened by ParaView" in done.stdout, done.stdout + done.stderr
    print(done.stdout)


def main():
    if not shutil.which("h5dump"):
        print("skipped: there is no h5dump (Debian: hdf5-tools)")
        return 77
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, folder], capture_output=True, text=True, check=False)
        if "OP_ERR_NOT_BUILT" in done.stderr:
            print("skipped:", done.stderr)
            return 77
        assert done.returncode == 0, done.stderr
        if "--paraview" in sys.argv:
            check_paraview(folder)
        else:
            check_steps(folder)
            check_times(folder)
            check_mixed(folder)
            check_polygons(folder)
            check_solids(folder)
            check_restart(program, folder)
            check_damaged(program, folder)
            check_foreign(program, folder)
            print("files for ParaView: well")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""python3 -m op2jit.mesh: meshes of other formats, edges of their cells, pictures."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Optional

import numpy as np

from ..drawing import plot
from ..errors import Error
from .cells import BOUNDARIES, Mesh, add_edges, add_kinds
from .formats import read_airfoil, read_foreign, read_hdf5, write_airfoil, write_foreign, write_hdf5

HDF5 = (".h5", ".hdf5", ".hdf")
#: Readers and writers of files, by the ends of their names; the last one is for all others.
FORMATS = [(HDF5, read_hdf5, write_hdf5), ((".dat",), read_airfoil, write_airfoil), (("",), read_foreign, write_foreign)]


def _draw(mesh: Mesh, of: Optional[str], component: int, path: str) -> None:
    """Cells in the plane, coloured by a dat on them, or on their nodes (the mean), or by their number."""
    (nodes, x), cells = mesh.places(), mesh.cells()
    if cells[0][0].dimension == 3:
        raise ValueError("the cells are not in the plane; draw shows no others")
    at_nodes = mesh.data_of(nodes).items()
    data = [{**{name: v[table].mean(axis=1) for name, v in at_nodes}, **mesh.data_of(on)} for _, on, table in cells]
    names = [name for name in data[0] if all(name in one for one in data)]
    if of and of not in names:
        raise ValueError(f"--of {of}: there is no such dat on the cells or nodes; expected one of {', '.join(names)}")
    width = max(kind.nodes for kind, _, _ in cells)
    rows = np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1])), "edge") for _, _, table in cells])
    values = np.concatenate([one[of] for one in data]) if of else np.arange(len(rows))
    axes = plot(values, x, rows, component, edgecolors="black" if len(rows) < 5000 else "face", linewidths=0.2)
    axes.set_title(of or "number of the cell")
    axes.figure.savefig(path)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m op2jit.mesh", description=__doc__)
    parser.epilog = "op2jit mesh info and op2jit mesh check say what is in a file of HDF5."
    commands = parser.add_subparsers(dest="command", required=True)
    convert = commands.add_parser("convert", help="write a mesh in another format")
    draw = commands.add_parser("draw", help="draw a mesh in the plane, coloured by a dat")
    for one, new in [(convert, "a mesh, named in the same way"), (draw, "a picture: .svg, .png, .pdf")]:
        one.add_argument("file", help="a mesh: .h5 in OP2's layout, .dat OP2's airfoil text, or what meshio reads: .msh, .vtu, ...")
        one.add_argument("new", help=new)
        one.add_argument("--coordinates", metavar="DAT", help="the dat of the coordinates (x, in OP2's airfoil p_x)")
    convert.add_argument("--edges", action="store_true", help="add the edges of the cells, in space their faces")
    kinds = f"the kind of groups of the boundary, by name or number: {', '.join(BOUNDARIES)} (0 to 4), or a number"
    convert.add_argument("--boundary", metavar="KIND=GROUP,...", action="append", help=f"{kinds}; with --edges")
    draw.add_argument("--of", metavar="NAME", help="the dat; without it the number of each cell is shown")
    draw.add_argument("--component", type=int, default=0, help="which of the dat's values, counted from 0")
    return parser


def _run(said: argparse.Namespace) -> None:
    os.stat(said.file)
    if os.path.exists(said.new) and os.path.samefile(said.file, said.new):
        raise ValueError(f"{said.new} would be replaced; name another file")
    read = next(read for ends, read, _ in FORMATS if said.file.endswith(ends))
    write = next(write for ends, _, write in FORMATS if said.new.endswith(ends))
    mesh = read(said.file)
    mesh.coordinates = said.coordinates or next((name for name in ("x", "p_x") if name in mesh.tables), "x")
    if said.command == "draw":
        return _draw(mesh, said.of, said.component, said.new)
    if said.edges and write not in (write_hdf5, write_airfoil):
        raise ValueError(f"{said.new}: other formats have no place for edges; name a file of HDF5, .h5")
    if said.boundary and not said.edges:
        raise ValueError("--boundary says of which kind the sides are that --edges makes: give both")
    if said.edges:
        add_edges(mesh)
    if said.boundary:
        add_kinds(mesh, said.boundary)
    write(mesh, said.new)
    print(f"{said.new}: {len(mesh.sets)} sets, {len(mesh.tables)} maps and dats")


def _main() -> None:
    said = _options().parse_args()
    try:
        return _run(said)
    except ImportError as error:
        words = f"there is no module {error.name} for {sys.executable} (Debian: python3-{error.name})"
    except Exception as error:  # readers of damaged files raise errors of many kinds
        kind = "" if isinstance(error, (OSError, ValueError, Error)) else f"{type(error).__name__} "
        words = kind + " ".join(str(error).split())
        if isinstance(error, OSError) and error.errno:  # what is written has another name until it is whole
            words = f"{said.file if error.filename == said.file else said.new}: {os.strerror(error.errno)}"
        words = words if said.file in words or said.new in words else f"{said.file}: {words}"
    print(f"op2jit.mesh: {words}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    _main()

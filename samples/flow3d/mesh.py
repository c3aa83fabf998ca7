#!/usr/bin/env python3
"""Meshes for flow3d: boxes of hexahedra, wedges, tetrahedra with pyramids, and coarse levels for any mesh of flow3d.

    mesh.py box FILE.h5 --cells NX NY NZ [--size LX LY LZ] [--kind hexes|wedges|tets|mixed] [--levels N] ...
    mesh.py levels FILE.h5 N

README.md of the samples has what is in such a file. `python3 -m op2jit.mesh` makes them of the meshes of others.
Needs NumPy and h5py (Debian: python3-numpy, python3-h5py).
"""

import argparse
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError as error:
    sys.exit(f"mesh.py: there is no module {error.name} for {sys.executable} (Debian: python3-{error.name})")

BOUNDARIES = ["far", "wall", "slip", "outflow", "symmetry"]  # as flow3d_kernels.h numbers them
#: The faces of each kind of cell, seen from outside against the clock; nodes are in the order of VTK.
FACES = {
    "tets": [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    "pyramids": [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
    "wedges": [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
    "hexes": [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
}


# ---- boxes ---------------------------------------------------------------------------------------------------

def corners(cells):
    """The eight nodes of each cell of a block, in the order of VTK: an array [nx, ny, nz, 8]."""
    nx, ny, nz = cells
    number = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    steps = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    return np.stack([number[i : i + nx, j : j + ny, k : k + nz] for i, j, k in steps], axis=-1)


def cut_to_wedges(hexes):
    """Two wedges of each hexahedron, whose triangles look along y."""
    c = hexes.reshape(-1, 8)
    return np.concatenate([c[:, [0, 4, 5, 3, 7, 6]], c[:, [0, 5, 1, 3, 6, 2]]])


def cut_at_centre(hexes, x, halve):
    """A pyramid on each face of hexahedra, from their centres; where `halve`, two tetrahedra in its place. The diagonal
    begins at the least node of the face, so that the cells on both sides of it agree."""
    c, flags = hexes.reshape(-1, 8), halve.reshape(-1, 6)
    centre = len(x) + np.arange(len(c))
    tets, pyramids = [], []
    for number, face in enumerate(FACES["hexes"]):
        base = c[:, face[::-1]]
        least = base.argmin(axis=1)
        base = np.take_along_axis(base, (np.arange(4) + least[:, None]) % 4, axis=1)
        cut, top = flags[:, number], centre[:, None]
        pyramids.append(np.hstack([base, top])[~cut])
        tets += [np.hstack([base[:, [0, 1, 2]], top])[cut], np.hstack([base[:, [0, 2, 3]], top])[cut]]
    return np.concatenate([x, x[c].mean(axis=1)]), np.concatenate(tets), np.concatenate(pyramids)


def neighbours_too(chosen):
    """For the six faces of each cell: is the cell behind it chosen too? At the end of the block, yes."""
    there = np.pad(chosen, 1, constant_values=True)
    behind = [(0, 0, -1), (0, 0, 1), (0, -1, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0)]  # in the order of FACES["hexes"]
    nx, ny, nz = chosen.shape
    return np.stack([there[1 + i : 1 + i + nx, 1 + j : 1 + j + ny, 1 + k : 1 + k + nz] for i, j, k in behind], axis=-1)


def make_cells(cells, kind, x):
    """Nodes and cells of a block. Of a mixed one the first third is hexahedra, then wedges, then tetrahedra behind
    pyramids."""
    block = corners(cells)
    third = np.arange(cells[0]) * 3 // cells[0]
    which = {"hexes": 0 * third, "wedges": 1 + 0 * third, "tets": 2 + 0 * third, "mixed": third}[kind]
    centred = np.broadcast_to((which == 2)[:, None, None], cells)
    x, tets, pyramids = cut_at_centre(block[which == 2], x, neighbours_too(centred)[which == 2])
    parts = {"tets": tets, "pyramids": pyramids, "wedges": cut_to_wedges(block[which == 1])}
    return x, {**parts, "hexes": block[which == 0].reshape(-1, 8)}


def make_box(options):
    """Coordinates, cells and the kinds of sides; a box may be graded, and bent by a smooth wave."""
    axes = [np.linspace(0, 1, n + 1) for n in options.cells]
    steps = options.grade ** np.arange(options.cells[2])
    axes[2] = np.concatenate([[0], np.cumsum(steps) / steps.sum()])
    unit = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    low, size = np.array(options.origin), np.array(options.size)
    x, cells = make_cells(tuple(options.cells), options.kind, unit)
    wave = options.wave * np.prod(np.sin(np.pi * x), axis=1)
    return low + size * (x + wave[:, None] * np.array([1, -0.7, 0.8])), cells


def kinds_of(options, centre):
    """Kind and group of each side, by where it lies."""
    low, size = np.array(options.origin), np.array(options.size)
    place = (centre - low) / size
    side = np.abs(np.stack([place, 1 - place], axis=2).reshape(-1, 6)).argmin(axis=1)
    kind = np.array([BOUNDARIES.index(word) for word in options.boundary])[side]
    ahead = (kind == BOUNDARIES.index("wall")) & (centre[:, 0] < 0)
    kind[ahead] = BOUNDARIES.index("symmetry")  # a plate begins at x = 0
    return kind, side + 1


# ---- faces ---------------------------------------------------------------------------------------------------

def make_faces(cells):
    """Nodes and cells of faces between two cells, nodes and cell of those at the boundary. A triangle has its last node
    twice."""
    rows, owners, first = [], [], 0
    for kind, nodes in cells.items():
        for face in FACES[kind]:
            rows.append(nodes[:, (*face, face[-1])[:4]])
            owners.append(first + np.arange(len(nodes)))
        first += len(nodes)
    row, owner = np.concatenate(rows), np.concatenate(owners)
    ordered = np.sort(np.where(row == np.roll(row, 1, axis=1), -1, row), axis=1)
    _, begin, inverse, count = np.unique(ordered, axis=0, return_index=True, return_inverse=True, return_counts=True)
    if count.max() > 2:
        sys.exit("mesh.py: three cells share a face")
    last = np.zeros_like(begin)
    last[inverse.ravel()] = np.arange(len(row))
    begin, last = np.minimum(begin, last), np.maximum(begin, last)
    order = np.lexsort((owner[last], owner[begin]))
    inner, outer = order[count[order] == 2], order[count[order] == 1]
    return (row[begin[inner]], np.stack([owner[begin[inner]], owner[last[inner]]], axis=1)), (
        row[begin[outer]], owner[begin[outer]])  # fmt: skip


def measure(x, nodes):
    """Areas as vectors, and middles, of faces."""
    a, b, c, d = (x[nodes[:, k]] for k in range(4))
    area = 0.5 * np.cross(c - a, d - b)
    three = nodes[:, 2] == nodes[:, 3]
    return area, np.where(three[:, None], (a + b + c) / 3, (a + b + c + d) / 4)


# ---- coarse levels -------------------------------------------------------------------------------------------

def pair(count, faces, area):
    """Each cell with the neighbour that it shares most area with and that is free; one that finds none joins the cells
    of its nearest neighbour. Returns the new number of each cell."""
    order = np.argsort(np.concatenate([faces[:, 0], faces[:, 1]]), kind="stable")
    other = np.concatenate([faces[:, 1], faces[:, 0]])[order].tolist()
    size = np.tile(area, 2)[order].tolist()
    begin = np.concatenate([[0], np.cumsum(np.bincount(faces.ravel(), minlength=count))]).tolist()
    number, made = [-1] * count, 0
    for cell in range(count):
        if number[cell] >= 0:
            continue
        best, most, near, nearest = -1, 0.0, -1, 0.0
        for i in range(begin[cell], begin[cell + 1]):
            if number[other[i]] < 0 and size[i] > most * (1 + 1e-9):
                best, most = other[i], size[i]
            if size[i] > nearest:
                near, nearest = other[i], size[i]
        if best < 0 and near >= 0:
            number[cell] = number[near]
            continue
        number[cell] = made
        if best >= 0:
            number[best] = made
        made += 1
    return np.array(number), made


def merge(keys, *columns):
    """Rows with the same keys become one; columns of numbers are added up."""
    found, inverse = np.unique(keys, axis=0, return_inverse=True)
    sums = []
    for column in columns:
        total = np.zeros((len(found), *column.shape[1:]))
        np.add.at(total, inverse.ravel(), column)
        sums.append(total)
    return (found, *sums)


def join(faces, area, number):
    """Faces of cells that became larger: those between two of them, one for each pair."""
    ends = number[faces]
    keep = ends[:, 0] != ends[:, 1]
    ends, area = ends[keep], area[keep]
    turned = ends[:, 0] > ends[:, 1]
    return merge(np.where(turned[:, None], ends[:, ::-1], ends), np.where(turned[:, None], -area, area))


def add_levels(file, count):
    """Levels 1, 2, ...: some eight cells of a level make one of the next."""
    faces, cell = file["faces_cells"][:], file["bfaces_cell"][:, 0]
    area, _ = measure(file["x"][:], file["faces_nodes"][:])
    side_area, centre = measure(file["x"][:], file["bfaces_nodes"][:])
    kind, group, cells = file["bfaces_kind"][:, 0], file["bfaces_group"][:, 0], file["cells"][()].item()
    for level in range(1, count):
        number = np.arange(cells)
        for _ in range(3):
            step, cells = pair(cells, faces, np.linalg.norm(area, axis=1))
            number = step[number]
            faces, area = join(faces, area, step)
        weight = np.linalg.norm(side_area, axis=1)
        keys = np.stack([number[cell], kind, group], axis=1)
        keys, side_area, centre, weight = merge(keys, side_area, centre * weight[:, None], weight)
        centre /= weight[:, None]
        cell, kind, group = keys.T
        before = "cells" if level == 1 else f"cells_{level - 1}"
        of = f"cells_{level}", f"faces_{level}", f"bfaces_{level}"
        for name, size in zip(of, (cells, len(faces), len(cell))):
            put(file, name, size)
        put(file, f"{before}_parent", number)
        put(file, f"{of[1]}_cells", faces)
        put(file, f"{of[1]}_area", area)
        for name, values in [("cell", cell), ("kind", kind), ("area", side_area), ("centre", centre)]:
            put(file, f"{of[2]}_{name}", values)
        print(f"level {level}: {cells} cells, {len(faces)} faces, {len(cell)} sides")


# ---- files ---------------------------------------------------------------------------------------------------

def put(file, name, values):
    """A set's size, or a table with a row for each element: whole numbers as int, others as double."""
    table = np.asarray(values)
    if table.ndim:
        rows = table if table.ndim > 1 else table[:, None]
        table = rows.astype(np.float64 if table.dtype.kind == "f" else np.int32)
    if name in file:
        del file[name]
    file[name] = table if table.ndim else np.int32(table)


def write_box(options):
    """A whole file."""
    x, cells = make_box(options)
    (nodes, ends), (side_nodes, cell) = make_faces(cells)
    kind, group = kinds_of(options, measure(x, side_nodes)[1])
    with h5py.File(options.file, "w") as file:
        first = 0
        for name, table in cells.items():
            put(file, name, len(table))
            put(file, f"{name}_nodes", table.reshape(-1, max(map(max, FACES[name])) + 1))
            put(file, f"{name}_cell", first + np.arange(len(table)))
            first += len(table)
        tables = {"nodes": len(x), "cells": first, "faces": len(nodes), "bfaces": len(cell), "x": x, "faces_nodes": nodes,
                  "faces_cells": ends, "bfaces_nodes": side_nodes, "bfaces_cell": cell, "bfaces_kind": kind}  # fmt: skip
        for name, table in {**tables, "bfaces_group": group}.items():
            put(file, name, table)
        counts = ", ".join(f"{len(table)} {name}" for name, table in cells.items() if len(table))
        print(f"{options.file}: {len(x)} nodes, {counts}, {len(nodes)} faces, {len(cell)} sides")
        add_levels(file, options.levels)


def main():
    parser = argparse.ArgumentParser(description="Meshes for flow3d.")
    commands = parser.add_subparsers(dest="command", required=True)
    box = commands.add_parser("box", help="a block of cells")
    box.add_argument("file")
    box.add_argument("--cells", type=int, nargs=3, required=True, metavar=("NX", "NY", "NZ"))
    box.add_argument("--origin", type=float, nargs=3, default=[0, 0, 0], metavar=("X", "Y", "Z"))
    box.add_argument("--size", type=float, nargs=3, default=[1, 1, 1], metavar=("LX", "LY", "LZ"))
    box.add_argument("--kind", choices=["hexes", "wedges", "tets", "mixed"], default="hexes")
    box.add_argument("--boundary", choices=BOUNDARIES, nargs=6, default=["far"] * 6, metavar="KIND",
                     help=f"of the sides x0 x1 y0 y1 z0 z1: {', '.join(BOUNDARIES)}; a wall begins at x = 0")  # fmt: skip
    box.add_argument("--grade", type=float, default=1, help="each cell is so many times as high as the one below")
    box.add_argument("--wave", type=float, default=0, help="bend the cells inside: 0.1 is much")
    box.add_argument("--levels", type=int, default=1)
    levels = commands.add_parser("levels", help="add coarse levels to a mesh")
    levels.add_argument("file")
    levels.add_argument("levels", type=int)
    options = parser.parse_args()
    if options.levels < 1 or (options.command == "box" and min(options.cells) < 1):
        parser.error("numbers of cells and levels are 1 or more")
    try:
        if options.command == "box":
            write_box(options)
        else:
            with h5py.File(options.file, "r+") as file:
                add_levels(file, options.levels)
    except (OSError, KeyError) as error:
        sys.exit(f"mesh.py: {options.file}: {os.strerror(error.errno) if getattr(error, 'errno', 0) else error}")


if __name__ == "__main__":
    main()

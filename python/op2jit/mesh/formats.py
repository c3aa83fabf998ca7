"""Files of meshes: HDF5 in OP2's layout by h5py, OP2's airfoil text, all others by meshio."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, Dict, List, Tuple, cast

import numpy as np

from .._library import Values, type_of
from .cells import KINDS, Mesh

#: Names that formats have for the group of an element.
GROUPS = ("gmsh:physical", "medit:ref", "su2:tag", "cell_tags")
#: The parts of OP2's airfoil text in their order: of each set its tables, with their targets and columns.
AIRFOIL: Dict[str, List[Tuple[str, str, int]]] = {
    "nodes": [("p_x", "", 2)],
    "cells": [("pcell", "nodes", 4)],
    "edges": [("pedge", "nodes", 2), ("pecell", "cells", 2)],
    "bedges": [("pbedge", "nodes", 2), ("pbecell", "cells", 1), ("p_bound", "", 1)],
}


def _warn_left_out(names: List[str], why: str) -> None:
    if names:
        print(f"op2jit.mesh: warning: left out, {why}: {', '.join(names)}", file=sys.stderr)


def _guess(mesh: Mesh, item: Any) -> Tuple[str, str]:
    """The set, and of a map the target, of a table that does not name them, by sizes alone; "" for none."""
    by_size = {size: name for name, size in reversed(list(mesh.sets.items()))}
    constant = "dim" in item.attrs and "size" not in item.attrs
    of = by_size.get(item.shape[0], "") if item.ndim in (1, 2) and item.dtype.kind in "iuf" and not constant else ""
    whole = of and item.size and item.dtype.kind in "iu"
    return of, by_size.get(int(np.max(item)) + 1, "") if whole and np.min(item) == 0 else ""


def read_hdf5(path: str) -> Mesh:
    """The mesh of a file. Where a table does not name its sets, as those of this library do, sizes tell them."""
    import h5py
    mesh, items, left = Mesh(), cast(Dict[str, Any], {}), []
    try:
        opened = h5py.File(path, "r")
    except OSError as error:
        raise OSError(f"{path}: {error}") from error
    with opened as file:
        file.visititems(lambda name, item: items.update({name: item} if isinstance(item, h5py.Dataset) else {}))
        for name, item in items.items():
            if item.size == 1 and item.dtype.kind in "iu" and "dim" not in item.attrs:
                mesh.add_set(name, int(np.ravel(item[()])[0]))
        for name, item in items.items():
            of, on, target = [np.bytes_(item.attrs.get(key, b"")).decode() for key in ("from", "set", "to")]
            if name in mesh.sets:
                continue
            if item.shape[:1] != (mesh.sets.get(of or on, -1),):
                of, target = _guess(mesh, item)
            if of or on:
                mesh.add(name, of or on, item[()], target)
            else:
                left.append(name)
        for line in np.bytes_(file.attrs.get("groups", b"")).decode().splitlines():
            number, dimension, name = line.split(" ", 2)
            mesh.groups[name] = int(number), int(dimension)
    _warn_left_out(left, "on no set of the file")
    return mesh


def write_hdf5(mesh: Mesh, path: str) -> None:
    """A new file, under its name when it is whole."""
    import h5py
    part = f"{path}.{os.getpid()}.part"
    with h5py.File(part, "w") as file:
        for name, size in mesh.sets.items():
            file[name] = np.array([size], dtype=np.int32)
        for name, (of, target, values) in mesh.tables.items():
            said = {"from": of, "to": target} if target else {"set": of}
            words = {key: np.bytes_(word) for key, word in {**said, "type": type_of(values.dtype)}.items()}
            sizes: Dict[str, Any] = {"size": np.int32(len(values)), "dim": np.int32(values.shape[1])}
            file.create_dataset(name, data=values).attrs.update({**sizes, **words})
        if mesh.groups:
            lines = [f"{number} {dimension} {name}" for name, (number, dimension) in mesh.groups.items()]
            file.attrs["groups"] = np.bytes_("\n".join(lines).encode())
    os.replace(part, path)


def _numbers(path: str) -> Values:
    """All numbers of a text."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return np.array(text.split(), float)
    except ValueError:
        for number, line in enumerate(text.splitlines(), 1):
            for word in line.split():
                try:
                    float(word)
                except ValueError:
                    raise ValueError(f'{path}, line {number}: "{word}" is not a number') from None
        raise


def read_airfoil(path: str) -> Mesh:
    """A line of four sizes, then a row of numbers for each element of each set."""
    numbers, at, mesh = _numbers(path), len(AIRFOIL), Mesh(coordinates="p_x")
    sizes = [int(size) for size in numbers[:at]]
    if len(sizes) < at or min(sizes) < 0 or not np.array_equal(sizes, numbers[:at]):
        raise ValueError(f"{path}: OP2's airfoil text begins with the numbers of nodes, cells, edges and boundary edges")
    mesh.sets.update(zip(AIRFOIL, sizes))
    for of, columns in AIRFOIL.items():
        width = sum(count for _, _, count in columns)
        rows = numbers[at : at + mesh.sets[of] * width]
        if rows.size < mesh.sets[of] * width:
            raise ValueError(f"{path}: the file is too short for {mesh.sets[of]} {of}")
        at, rows, first = at + rows.size, rows.reshape(-1, width), 0
        for name, target, count in columns:
            values, first = rows[:, first : first + count], first + count
            if of != "nodes" and not np.array_equal(values, values.astype(np.int32)):
                raise ValueError(f"{path}: a row of {of} has something else than whole numbers")
            mesh.add(name, of, values if of == "nodes" else values.astype(np.int32), target)
    if at < numbers.size:
        raise ValueError(f"{path}: something follows the last boundary edge")
    return mesh


def _find_airfoil(mesh: Mesh) -> List[str]:
    """The tables that stand for those of AIRFOIL, by their structure, whatever their names."""
    nodes, x = mesh.places()

    def find(of: str, target: str, columns: int) -> str:
        fits = (name for name, (on, to, values) in mesh.tables.items() if on == of and to == target and
                values.shape[1] == columns and (to or values.dtype.kind in "iu"))  # fmt: skip
        return next(fits, "")

    cells = next((of for of in mesh.sets if find(of, nodes, 4)), "")
    found = [mesh.coordinates if x.shape[1] == 2 else "", find(cells, nodes, 4)]
    for count in (2, 1):
        sides = next((of for of in mesh.sets if find(of, nodes, 2) and find(of, cells, count)), "")
        found += [find(sides, nodes, 2), find(sides, cells, count)]
    return [*found, find(sides, "", 1)]


def write_airfoil(mesh: Mesh, path: str) -> None:
    """Write a mesh; what the format has no place for is left out, with a warning."""
    found = _find_airfoil(mesh)
    names = [name for columns in AIRFOIL.values() for name, _, _ in columns]
    if not all(found):
        words = "cells of 4 nodes, edges of 2 nodes and 2 cells, and boundary edges of 2 nodes, a cell and a flag"
        raise ValueError(f"{path}: OP2's airfoil text needs nodes in the plane, {words}: there is no table "
                         f"like {names[found.index('')]}")  # fmt: skip
    _warn_left_out([name for name in mesh.tables if name not in found], "the format has no place for it")
    tables, part = iter([mesh.tables[name] for name in found]), f"{path}.{os.getpid()}.part"
    parts = [[next(tables) for _ in columns] for columns in AIRFOIL.values()]
    with open(part, "w", encoding="utf-8") as file:
        print(*[mesh.sets[columns[0][0]] for columns in parts], file=file)
        for columns in parts:
            np.savetxt(file, np.hstack([values for _, _, values in columns]), "%d" if columns[0][1] else "%.17g")
    os.replace(part, path)


def _meshio(call: str, path: str, *more: Any, **options: Any) -> Any:
    import meshio
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            done = getattr(meshio, call)(path, *more, **options)
    except (Exception, SystemExit) as error:
        words = f"{type(error).__name__} {error}"
        if isinstance(error, SystemExit):  # the file is of another format than its name says: meshio prints that
            words = " ".join(said.getvalue().split())
        hint = "; of Gmsh it reads versions 2.2 and 4.1, of 4.1 no parts" if path.endswith(".msh") else ""
        raise ValueError(f"meshio does not {call} {path}: {words}{hint}") from error
    if said.getvalue().strip():
        print(said.getvalue().strip(), file=sys.stderr)
    return done


def read_foreign(path: str) -> Mesh:
    """The mesh of a file that meshio reads: a set for each kind of elements, with their group and data."""
    found = _meshio("read", path)
    types = {block.type for block in found.cells}
    strange = types - {kind.foreign for kind in KINDS}
    if strange:
        raise ValueError(f"{path} has elements of type {', '.join(sorted(strange))}; expected those of first order")
    mesh = Mesh({"nodes": len(found.points)})
    mesh.add("x", "nodes", found.points[:, : 3 if found.points[:, 2:].any() else 2].astype(float))
    for name, values in found.point_data.items():
        if not name.startswith("gmsh:"):
            mesh.add(name, "nodes", values)
    for kind in [kind for kind in KINDS if kind.foreign in types]:
        blocks = [i for i, block in enumerate(found.cells) if block.type == kind.foreign]
        of, rows = kind.sets[0], np.concatenate([found.cells[i].data for i in blocks])
        mesh.add_set(of, len(rows))
        mesh.add(f"{of}_nodes", of, rows, "nodes")
        for name, data in found.cell_data.items():
            values = np.concatenate([data[i] for i in blocks])
            if name in GROUPS:
                mesh.add(f"{of}_group", of, values.astype(np.int32))
            elif not name.startswith("gmsh:"):
                mesh.add(f"{of}_{name}", of, values)
    named = {name: np.ravel(said) for name, said in found.field_data.items()}
    mesh.groups = {name: (int(said[0]), int(said[1])) for name, said in named.items() if said.size == 2}
    return mesh


def write_foreign(mesh: Mesh, path: str) -> None:
    """A file that meshio writes: cells, and of lines or faces with a group the file's own, else those made of cells."""
    import meshio
    (nodes, x), most = mesh.places(), mesh.cells()[0][0].dimension
    found = [(kind, of, table, mesh.data_of(of)) for kind, of, table in mesh.elements() if len(table)]
    found = [one for one in found if one[0].dimension == most or "group" in one[3]]
    given = any(kind.dimension < most and of not in kind.sets[1:] for kind, of, _, _ in found)
    written: List[Tuple[str, Values, Dict[str, Values]]] = []
    for kind, of, table, data in [one for one in found if not given or one[1] not in one[0].sets[1:]]:
        three = table[:, 2] == table[:, -1] if of == "bfaces" else np.zeros(len(table), bool)
        for which, foreign, rows in [(~three, kind.foreign, table), (three, "triangle", table[:, :3])]:
            if which.any():
                written.append((foreign, rows[which], {name: values[which] for name, values in data.items()}))
    cell_data = {}
    for name, like in {name: like for _, _, data in written for name, like in data.items()}.items():
        zeros = [np.zeros((len(table), *like.shape[1:]), like.dtype) for _, table, _ in written]
        cell_data[name] = [data.get(name, zero) for (_, _, data), zero in zip(written, zeros)]
    point_data = {name: values for name, values in mesh.data_of(nodes).items() if name != mesh.coordinates}
    form = "gmsh22" if path.endswith(".msh") else None
    if form:
        group = cell_data.pop("group", [np.zeros(len(table), np.int32) for _, table, _ in written])
        cell_data.update({name: group for name in ("gmsh:physical", "gmsh:geometrical")})
    blocks, width = [(foreign, table) for foreign, table, _ in written], ((0, 0), (0, 3 - x.shape[1]))
    names = {name: np.array(said, np.int32) for name, said in mesh.groups.items()} if form else {}
    if mesh.groups and not form:
        said = ", ".join(f"{number} is {name}" for name, (number, _) in mesh.groups.items())
        print(f"op2jit.mesh: warning: names of groups are left out, numbers are kept: {said}", file=sys.stderr)
    made = meshio.Mesh(np.pad(x, width), blocks, point_data, cell_data, names)
    _meshio("write", path, made, form, **({"binary": False} if form else {}))

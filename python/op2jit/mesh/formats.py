"""Files of meshes: HDF5 in OP2's layout by h5py, all others by meshio."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, Tuple, cast

import numpy as np

from .._library import Values, type_of
from .cells import KINDS, Mesh

#: What formats call the group of an element.
GROUPS = ("gmsh:physical", "medit:ref", "su2:tag", "cell_tags")


def read_hdf5(path: str) -> Mesh:
    """The mesh of a file that names the sets of its tables, as this library writes it."""
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
            if item.shape[:1] == (mesh.sets.get(of or on, -1),):
                mesh.add(name, of or on, item[()], target)
            elif name not in mesh.sets:
                left.append(name)
        for line in np.bytes_(file.attrs.get("groups", b"")).decode().splitlines():
            number, dimension, name = line.split(" ", 2)
            mesh.groups[name] = int(number), int(dimension)
    if left:
        print(f"op2jit.mesh: warning: left out, on no set that the file names: {', '.join(left)}", file=sys.stderr)
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


def _meshio(call: str, path: str, *more: Any, **options: Any) -> Any:
    import meshio
    try:
        return getattr(meshio, call)(path, *more, **options)
    except (Exception, SystemExit) as error:  # meshio exits where a file is of another format than its name says
        hint = "; of Gmsh it reads versions 2.2 and 4.1, of 4.1 no parts" if path.endswith(".msh") else ""
        raise ValueError(f"meshio does not {call} {path}: {type(error).__name__} {error}{hint}") from error


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

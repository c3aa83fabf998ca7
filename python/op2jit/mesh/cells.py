"""A mesh between two files, as arrays; edges of its cells in the plane, faces of those in space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Tuple

import numpy as np

from .._library import Values


class Kind(NamedTuple):
    """Elements of first order. The first of their sets is that of a file's elements; the others are made of cells.
    Sides are nodes of the element: in the plane they go round it to the left, in space round the way out of it."""

    foreign: str
    nodes: int
    dimension: int
    sets: Tuple[str, ...]
    sides: Tuple[Tuple[int, ...], ...]


#: Kinds of cells, in the order in which cells of several kinds are numbered.
KINDS = [
    Kind("vertex", 1, 0, ("points",), ()),
    Kind("line", 2, 1, ("lines", "edges", "bedges"), ()),
    Kind("triangle", 3, 2, ("triangles",), ((0, 1), (1, 2), (2, 0))),
    Kind("quad", 4, 2, ("quads", "faces", "bfaces"), ((0, 1), (1, 2), (2, 3), (3, 0))),
    Kind("tetra", 4, 3, ("tets",), ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))),
    Kind("pyramid", 5, 3, ("pyramids",), ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))),
    Kind("wedge", 6, 3, ("wedges",), ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))),
    Kind("hexahedron", 8, 3, ("hexes",),
         ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))),
]  # fmt: skip
#: Sides by the dimension of cells: how many nodes, the set of those between two cells, that of those at the boundary.
SIDES = {2: (2, "edges", "bedges"), 3: (4, "faces", "bfaces")}
#: Kinds of boundaries by name; others are numbers.
BOUNDARIES = {"far": 0, "wall": 1, "slip": 2, "outflow": 3, "symmetry": 4}


@dataclass
class Mesh:
    """Sizes of sets; maps and dats as (set, target or "", values); the dat that holds the coordinates; names of groups.
    A group has a number and a dimension: a surface and a volume may have one number."""

    sets: Dict[str, int] = field(default_factory=dict)
    tables: Dict[str, Tuple[str, str, Values]] = field(default_factory=dict)
    coordinates: str = "x"
    groups: Dict[str, Tuple[int, int]] = field(default_factory=dict)

    def add_set(self, name: str, size: int) -> None:
        """A set of its own name."""
        if name in self.sets or name in self.tables:
            raise ValueError(f'the mesh has "{name}" already; none is made of its cells')
        self.sets[name] = size

    def add(self, name: str, of: str, values: Values, target: str = "") -> None:
        """A map or a dat. Entries of maps are in range; bools and small numbers become int."""
        values = np.reshape(values, (self.sets[of], int(np.prod(np.shape(values)[1:]))))
        if target and values.size and not 0 <= values.min() <= values.max() < self.sets[target]:
            raise ValueError(f"map {name} has entries outside of {target}; op2jit mesh check says which")
        as_int = bool(target) or (values.dtype.kind in "bu" and values.itemsize < 4)
        self.tables[name] = (of, target, values.astype(np.int32) if as_int else values)

    def places(self) -> Tuple[str, Values]:
        """The set of the nodes, and their coordinates."""
        fits = {name: v for name, (_, target, v) in self.tables.items() if not target and v.shape[1] in (2, 3)}
        if self.coordinates not in fits:
            raise ValueError(f"--coordinates {self.coordinates}: expected a dat of 2 or 3 columns: {', '.join(fits)}")
        return self.tables[self.coordinates][0], fits[self.coordinates]

    def elements(self) -> List[Tuple[Kind, str, Values]]:
        """Kind, set and nodes, in the order of KINDS. The set's name says the kind, else the most dimensions win."""
        (nodes, x), found = self.places(), []
        for of, target, table in self.tables.values():
            fits = [kind for kind in KINDS if kind.nodes == table.shape[1] and kind.dimension <= x.shape[1]]
            named = [kind for kind in fits if of in kind.sets]
            if target == nodes != of and fits:
                found.append(((named or fits)[-1], of, table))
        return sorted(found, key=lambda one: KINDS.index(one[0]))

    def cells(self) -> List[Tuple[Kind, str, Values]]:
        """The elements of most dimensions, which are two or three."""
        most = max((kind.dimension for kind, _, _ in self.elements()), default=0)
        if most < 2:
            raise ValueError(f"the mesh has no cells: maps of 3 to 8 entries to {self.places()[0]}")
        return [one for one in self.elements() if one[0].dimension == most]

    def data_of(self, of: str) -> Dict[str, Values]:
        """Dats on a set and on that of all cells, without the set's name in theirs; one column is one dimension."""
        found = {name: values for name, (on, target, values) in self.tables.items() if on == of and not target}
        found = {name[name.startswith(f"{of}_") * (len(of) + 1) :]: values for name, values in found.items()}
        _, all_cells, cell = self.tables.get(f"{of}_cell", ("", of, np.empty(0)))
        if all_cells != of:
            found = {**{name: values[cell[:, 0]] for name, values in self.data_of(all_cells).items()}, **found}
        return {name: values[:, 0] if values.shape[1:] == (1,) else values for name, values in found.items()}


def _volumes(kind: Kind, places: Values) -> Values:
    """Three times the volumes of cells: negative where the sides of their kind go round the way into the cell."""
    total = np.zeros(len(places))
    for side in kind.sides:
        p = places[:, side] - places.mean(axis=1, keepdims=True)
        total += (p.mean(axis=1) * np.cross(p[:, 2] - p[:, 0], p[:, -1] - p[:, 1]) / 2).sum(axis=1)
    return total


def _sides(mesh: Mesh) -> Tuple[Values, Values, str]:
    """The sides of all cells, of four nodes or with -1 behind the last; the cell of each; the set of all cells."""
    (nodes_set, x), cells, sides, owners, first = mesh.places(), mesh.cells(), [], [], 0
    if cells[0][0].dimension == 3:  # programs for any mesh in space find each kind
        for kind in [kind for kind in KINDS if kind.dimension == 3 and kind not in [one for one, _, _ in cells]]:
            mesh.add_set(kind.sets[0], 0)
            mesh.add(f"{kind.sets[0]}_nodes", kind.sets[0], np.zeros((0, kind.nodes), np.int32), nodes_set)
        cells = mesh.cells()
    all_cells = cells[0][1] if len(cells) == 1 else "cells"
    if len(cells) > 1:
        mesh.add_set(all_cells, sum(len(nodes) for _, _, nodes in cells))
    for kind, of, nodes in cells:
        made = np.full((len(nodes), len(kind.sides), 4), -1)
        for i, side in enumerate(kind.sides):
            made[:, i, : len(side)] = nodes[:, side]
        if kind.dimension == 2:  # the cell is on the right of its edges, whichever way its own nodes go round
            a, b = x[nodes], x[np.roll(nodes, -1, axis=1)]
            area = (a[..., 0] * b[..., 1] - b[..., 0] * a[..., 1]).sum(axis=1)
            turned = (area >= 0) | (x.shape[1] == 3)
            made[turned, :, :2] = made[turned, :, 1::-1]
        else:  # the way out of it, also of a cell whose own nodes are in the other order
            turned = _volumes(kind, x[nodes]) < 0
            made[turned] = np.where(made[..., 3:] < 0, made[..., [0, 2, 1, 3]], made[..., [0, 3, 2, 1]])[turned]
        for cell in np.flatnonzero((np.diff(np.sort(nodes, axis=1)) == 0).any(axis=1) & (kind.dimension == 3))[:1]:
            raise ValueError(f"cell {cell} of {of} names a node twice")
        number = np.arange(first, first + len(nodes))
        if len(cells) > 1:
            mesh.add(f"{of}_cell", of, number, all_cells)
        sides.append(made.reshape(-1, 4))
        owners.append(np.repeat(number, len(kind.sides)))
        first += len(nodes)
    rows, owner = np.concatenate(sides), np.concatenate(owners)
    there = rows[:, 0] != rows[:, 1]  # an edge that has shrunk to a point is none
    return rows[there], owner[there], all_cells


def _number(rows: Values, nodes: int) -> Values:
    """Rows with the same nodes, in any order, get the same number."""
    number = np.zeros(len(rows), dtype=np.int64)
    for column in np.sort(rows, axis=1).T:
        number = np.unique(number * (nodes + 1) + column + 1, return_inverse=True)[1]
    return number


def add_edges(mesh: Mesh) -> None:
    """Add the sides, in the order of the first cell that has them; docs/files.md says which sets and maps."""
    nodes, dimension = mesh.places()[0], mesh.cells()[0][0].dimension
    lower = [(of, table) for kind, of, table in mesh.elements() if kind.dimension == dimension - 1]
    lower = [(of, table) for of, table in lower if "group" in mesh.data_of(of)]
    rows, owner, cells = _sides(mesh)
    total = len(rows)
    below = [np.pad(table, ((0, 0), (0, 4 - table.shape[1])), constant_values=-1) for _, table in lower]
    number = _number(np.concatenate([rows, *below]), mesh.sets[nodes])
    group = np.zeros(len(number), dtype=np.int32)
    if lower:  # the elements of one dimension less tell the groups of the sides that they lie on
        group[number[total:]] = np.concatenate([mesh.data_of(of)["group"] for of, _ in lower])
    which, first, inverse, count = np.unique(number[:total], True, True, True)
    last = np.empty_like(first)
    last[inverse] = np.arange(total)
    both = owner[np.stack([first, last], axis=1)]
    wrong = (count > 2) | ((count == 2) & (both[:, 0] == both[:, 1]))
    if wrong.any():
        side, found = rows[first[wrong.argmax()]], owner[inverse == wrong.argmax()].tolist()
        raise ValueError(f"nodes {side[0]} and {side[1]} are on sides of the cells {found}; expected one or two cells")
    width, inner, outer = SIDES[dimension]
    rows = np.where(rows < 0, rows[:, 2:3], rows)[:, :width]  # a triangle among quadrilaterals repeats its last node
    order = np.argsort(first)
    for name, end, sides in [(inner, "cells", 2), (outer, "cell", 1)]:
        chosen = order[count[order] == sides]
        mesh.add_set(name, len(chosen))
        mesh.add(f"{name}_nodes", name, rows[first[chosen]], nodes)
        mesh.add(f"{name}_{end}", name, both[chosen, :sides], cells)
    mesh.add(f"{outer}_group", outer, group[which[chosen]])


def add_kinds(mesh: Mesh, wanted: List[str]) -> None:
    """The kinds of the sides at the boundary by their groups: "wall=NAME,NUMBER"."""
    dimension = mesh.cells()[0][0].dimension
    outer = SIDES[dimension][2]
    group = mesh.data_of(outer)["group"]
    known = {name: number for name, (number, of) in mesh.groups.items() if of == dimension - 1}
    shown = {number: f"{number}" for number in sorted({*group.tolist(), *known.values()})}
    shown.update({number: f"{name} ({number})" for name, number in known.items()})
    known = {**{str(number): number for number in shown}, **known}
    chosen: Dict[int, int] = {}
    for words in wanted:
        kind, _, names = words.partition("=")
        if not names or not (kind in BOUNDARIES or (kind.isdigit() and int(kind) < 2**31)):
            raise ValueError(f"--boundary {words}: expected KIND=GROUP,...; a kind is {', '.join(BOUNDARIES)} or a number")
        for name in names.split(","):
            number = known.get(name)
            if number is None or number in chosen:
                what = "has a kind already" if number in chosen else f"is none of {', '.join(shown.values())}"
                raise ValueError(f"--boundary {words}: the group {name} {what}")
            chosen[number] = BOUNDARIES[kind] if kind in BOUNDARIES else int(kind)
    bare = {number: int((group == number).sum()) for number in shown if number not in chosen}
    if any(bare.values()):
        said = ", ".join(f"{count} of group {shown[number]}" for number, count in bare.items() if count)
        raise ValueError(f"--boundary: sides of {outer} have no kind: {said}; 0 is no group")
    mesh.add(f"{outer}_kind", outer, np.array([chosen[number] for number in group.tolist()], np.int32))

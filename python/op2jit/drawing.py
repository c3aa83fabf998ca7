"""A field on a mesh, drawn by matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import errors
from ._library import Values
from .mesh import Map


def plot(dat: Any, coords: Any, cells: Any, component: int = 0, ax: Any = None, **options: Any) -> Any:
    """Draw a dat on the points, or on the cells, of a mesh of triangles, quadrilaterals or polygons.

    ``cells`` is the map from the cells to their points, in order round the cell. Arrays do in place of dats: of values,
    of points (n x 2), and of the points of each cell. Polygons of different sizes repeat their last point. Returns
    matplotlib's axes. Options go to matplotlib: cmap, vmin, vmax, edgecolors, linewidths.
    """
    import matplotlib.pyplot as pyplot
    from matplotlib.collections import PolyCollection
    from matplotlib.tri import Triangulation

    points = np.asarray(coords, dtype=float)
    rows = _table(cells)
    values = np.asarray(dat, dtype=float)
    values = values.reshape(len(values), -1)
    if not 0 <= component < values.shape[1]:
        raise errors.make("INDEX", f"component {component}: there are {values.shape[1]}, counted from 0")
    values = values[:, component]
    if rows.ndim != 2 or rows.shape[1] < 3 or points.ndim != 2 or points.shape[1] < 2:
        raise errors.make("DIM", "plot needs points with two coordinates, and cells with three points or more")
    axes = ax or pyplot.subplots()[1]
    if len(values) == len(rows):
        made = PolyCollection(points[rows][:, :, :2], array=values, **{"edgecolors": "face", **options})
        axes.add_collection(made)
        axes.autoscale_view()
    elif len(values) == len(points):
        fan = np.concatenate([rows[:, [0, k, k + 1]] for k in range(1, rows.shape[1] - 1)])
        fan = fan[(fan[:, 1] != fan[:, 2])]
        made = axes.tripcolor(Triangulation(points[:, 0], points[:, 1], fan), values, shading="gouraud", **options)
    else:
        raise errors.make(
            "SIZE",
            f"there are {len(values)} values, {len(points)} points and {len(rows)} cells; "
            "expected one value for each point or cell",
        )
    axes.set_aspect("equal")
    axes.figure.colorbar(made, ax=axes, label=getattr(dat, "name", None))
    return axes


def _table(cells: Any) -> Values:
    if isinstance(cells, Map):
        return cells.table
    return np.asarray(cells)

"""Pictures of what samples computed, as guide/gallery.md and README.md show them.

usage: gallery.py SAMPLES FOLDER [--quick] [--work WORK] [NAME...]   (as it lies here: build/samples docs/guide/gallery)

Each sample runs once and leaves files of HDF5 or VTK; a picture takes at most 150 kB. --quick: small meshes and few steps, for a test. WORK
is a folder where the files stay, and from which a later run draws without running the samples. Needs NumPy, h5py and matplotlib.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import h5py
import matplotlib
import numpy as np
from PIL import Image

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import PolyCollection  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARGEST = 150000

# Name: the samples' arguments, those of a quick run, the file that it leaves.
SAMPLES = {
    "flow3d": ("--mesh flow3d.h5 --levels 3 --mach 0.5 --height 0.1 --limiter 1 --cycles 80 --vtk flow3d",
               "--mesh flow3d.h5 --mach 0.5 --height 0.1 --limiter 1 --cycles 20 --vtk flow3d", "flow3d.data.h5"),
    "airfoil": ("--cells 3000 --iters 400 --vtk airfoil", "--cells 300 --iters 20 --vtk airfoil", "airfoil.data.h5"),
    "transport": ("--n 30 --vtk transport", "--n 4 --end 0.1 --vtk transport", "transport.000000.h5"),
    "aero": ("--n 24 --vtk aero", "--n 6 --vtk aero", "aero.data.h5"),
    "shallow_water": ("--m 48 --n 48 --steps 100 --write shallow_water.h5", "--m 12 --n 12 --steps 5 --write shallow_water.h5", "shallow_water.h5"),
    "sph": ("--n 40 --vtk sph.vtk", "--n 12 --end 0.01 --vtk sph.vtk", "sph.vtk"),
}  # fmt: skip


def make(name, samples, quick):
    """The file that the sample leaves in the working folder, made if it is not there."""
    usual, small, left = SAMPLES[name]
    if not os.path.exists(left):
        if name == "flow3d":
            cells = ["9", "2", "4"] if quick else ["24", "8", "12"]
            bounds = ["far", "outflow", "symmetry", "symmetry", "slip", "far"]
            mesh = [sys.executable, os.path.join(ROOT, "samples", "flow3d", "mesh.py"), "box", "flow3d.h5", "--cells", *cells]
            mesh += ["--size", "3", "1", "1", "--kind", "mixed", "--boundary", *bounds, *([] if quick else ["--levels", "3"])]
            subprocess.run(mesh, check=True)
        done = subprocess.run([os.path.join(samples, name), *(small if quick else usual).split()], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode or not os.path.exists(left):
            sys.exit(f"{name} ended with status {done.returncode} and said:\n{done.stdout}")
    return left


# ---- what is drawn: polygons or points in the plane, with values -----------------------------------------------------

def seen(points):
    """Points in space as seen from the front, the left and above: the plane, and how far they are."""
    turn, lift = np.radians(-28), np.radians(24)
    x, y, z = np.moveaxis(points, -1, 0)
    far = np.cos(turn) * y - np.sin(turn) * x
    return np.stack([np.cos(turn) * x + np.sin(turn) * y, np.cos(lift) * z + np.sin(lift) * far], axis=-1), np.cos(lift) * far - np.sin(lift) * z


def surface(flow, mesh):
    """The wall with its bumps, the outflow and the side behind, by Mach number."""
    order = np.concatenate([mesh[kind + "_cell"][:].ravel() for kind in ("tets", "pyramids", "wedges", "hexes") if len(mesh[kind + "_cell"])])
    mach = np.empty(len(order))
    mach[order] = flow["cell/mach"][:]
    corners = flow["points"][:][mesh["bfaces_nodes"][:]]
    kind, middle = mesh["bfaces_kind"][:].ravel(), corners.mean(axis=1)
    shown = (kind == 2) | (kind == 3) | ((kind == 4) & (middle[:, 1] > 0.5))
    plane, far = seen(corners[shown])
    back = np.argsort(-far.mean(axis=1))
    return plane[back], mach[mesh["bfaces_cell"][:].ravel()[shown]][back]


def polygons(file, values):
    corners = file["points"][:][file["cells"][:]]
    found = values(file)
    return corners, found if len(found) == len(corners) else found[file["cells"][:]].mean(axis=1)


def read_flow3d(path):
    with h5py.File(path) as flow, h5py.File("flow3d.h5") as mesh:
        return surface(flow, mesh)


def read_airfoil(path):
    """By Mach number."""
    def mach(file):
        density, *momentum, energy = file["cell/q"][:].T
        speeds = (momentum[0] ** 2 + momentum[1] ** 2) / density**2
        return np.sqrt(speeds / (1.4 * 0.4 * (energy / density - speeds / 2)))

    with h5py.File(path) as file:
        return polygons(file, mach)


def read_transport(path):
    """The last state: the others are beside the first."""
    last = max(name for name in os.listdir() if name.startswith(path[:10]) and name.endswith(".h5"))
    with h5py.File(path) as file, h5py.File(last) as state:
        return polygons(file, lambda _: state["cell/c"][:])


def read_aero(path):
    with h5py.File(path) as file:
        return polygons(file, lambda file: file["point/phi"][:])


def read_shallow_water(path):
    """A square of points, row by row: a cell around each."""
    with h5py.File(path) as file:
        values = file["p"][:].ravel()
    n = round(len(values) ** 0.5)
    at = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 1, 2)
    return at + np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), values


def read_sph(path):
    """Particles as small squares, by speed."""
    with open(path, encoding="ascii") as file:
        words = file.read().split()
    count = int(words[words.index("POINTS") + 1])
    at, velocity = (np.array(words[first : first + 3 * count], dtype=float).reshape(-1, 3)
                    for first in (words.index("POINTS") + 3, words.index("VECTORS") + 3))  # fmt: skip
    half = 0.35 / count**0.5
    return at[:, None, :2] + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), np.hypot(velocity[:, 0], velocity[:, 1])


def draw(name, left, target):
    corners, values = globals()["read_" + name](left)
    if not len(values) or not np.isfinite(values).all() or values.min() == values.max():
        sys.exit(f"{name}: there is nothing to see in {left}")
    wide = name == "flow3d"
    figure, axes = pyplot.subplots(figsize=(7.2, 3.4) if wide else (3.6, 3), dpi=100)
    edges = {"edgecolors": "#0004", "linewidths": 0.4} if wide else {"edgecolors": "face", "linewidths": 0.2}
    drawn = axes.add_collection(PolyCollection(corners, array=values, cmap="viridis", **edges))
    axes.autoscale_view()
    if name == "airfoil":
        axes.set(xlim=(-0.6, 1.6), ylim=(-0.9, 0.9))
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.colorbar(drawn, ax=axes, shrink=0.8)
    figure.savefig(target, bbox_inches="tight")
    pyplot.close(figure)
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(128).save(target, optimize=True)
    if os.path.getsize(target) > LARGEST:
        sys.exit(f"{target} has {os.path.getsize(target)} bytes; expected at most {LARGEST}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", default=list(SAMPLES), metavar="NAME", help=" ".join(SAMPLES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", metavar="WORK")
    wanted = parser.parse_intermixed_args()
    samples, folder = os.path.abspath(wanted.samples), os.path.abspath(wanted.folder)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        if wanted.work:
            work = wanted.work
            os.makedirs(work, exist_ok=True)
        os.chdir(work)
        for name in wanted.names:
            left = make(name, samples, wanted.quick)
            draw(name, left, os.path.join(folder, name + ".png"))
            print(f"{name}.png")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()

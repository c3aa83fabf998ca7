"""The wheel carries the library of a build: that of ../build, or of the folder that OP2JIT_BUILD names.

The compiler's plugin is a package of its own, as it is large. ``pip install ./python[clang]`` takes it from clang/ of
this tree, without a network. OP2JIT_RELEASE=1 makes a wheel for an index instead: its extra names the package only.
"""

import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent


def build_folder():
    named = os.environ.get("OP2JIT_BUILD")
    folder = Path(named) if named else HERE.parent / "build"
    if not (folder / "libop2jit.so.0").exists():
        raise SystemExit(f"there is no libop2jit.so.0 in {folder}: run ./dev build, or name a build in OP2JIT_BUILD")
    return folder


class CarryLibrary(build_py):
    """Library and plugins beside the package's files; the compiler's plugin is a package of its own (clang/)."""

    def run(self):
        super().run()
        folder, into = build_folder(), Path(self.build_lib) / "op2jit" / "lib"
        (into / "op2jit").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "libop2jit.so.0", into / "libop2jit.so.0")
        for plugin in sorted((folder / "runtime").rglob("op2jit-*.so")):
            shutil.copyfile(plugin, into / "op2jit" / plugin.name)


class AnyPython(bdist_wheel):
    """It has no module in C: what it carries is opened by ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    """A wheel for one kind of machine, that of the library in it."""

    def has_ext_modules(self):
        return True


def compiler():
    """The package that the extra ``clang`` asks for."""
    folder = HERE / "clang"
    if os.environ.get("OP2JIT_RELEASE") or not folder.exists():
        version = re.search(r'^version = "(.+)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE)
        return f"op2jit-clang=={version.group(1)}"
    return f"op2jit-clang @ {folder.as_uri()}"


setup(
    cmdclass={"build_py": CarryLibrary, "bdist_wheel": AnyPython},
    distclass=WithLibrary,
    extras_require={"clang": [compiler()], "mesh": ["h5py", "meshio"], "mpi": ["mpi4py"], "plot": ["matplotlib"]},
)

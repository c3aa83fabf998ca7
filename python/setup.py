"""The wheel carries the library of a build: that of ../build, or of the folder that OP2JIT_BUILD names."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

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


class WithLibrary(Distribution):
    """What it carries is of one kind of machine."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": CarryLibrary}, distclass=WithLibrary)

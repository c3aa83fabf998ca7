"""The wheel carries the compiler's plugin of ../../build, or of the build that OP2JIT_BUILD names."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel


class CarryPlugin(build_py):
    def run(self):
        super().run()
        named = os.environ.get("OP2JIT_BUILD")
        folder = Path(named) if named else Path(__file__).resolve().parent.parent.parent / "build"
        plugin = folder / "jit" / "clang" / "op2jit-clang.so"
        if not plugin.exists():
            raise SystemExit(f"there is no {plugin}: build with -Dclang=static, or name a build in OP2JIT_BUILD")
        shutil.copyfile(plugin, Path(self.build_lib) / "op2jit_clang" / plugin.name)


class AnyPython(bdist_wheel):
    """It has no module in C: what it carries is opened by ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithPlugin(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": CarryPlugin, "bdist_wheel": AnyPython}, distclass=WithPlugin)

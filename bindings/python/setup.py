"""Builds the library with cargo and packs it beside the Python code.

PLANGATE_LIBRARY names a library that is built already; PLANGATE_PROFILE another cargo profile than `embed`.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def library() -> Path:
    """The shared library, built if it has to be."""
    built = os.environ.get("PLANGATE_LIBRARY")
    if built:
        return Path(built)
    if not (CHECKOUT / "ffi" / "Cargo.toml").is_file():
        raise SystemExit("plangate is built from its checkout: pip install ./bindings/python")
    profile = os.environ.get("PLANGATE_PROFILE", "embed")
    command = ["cargo", "build", "--locked", "-p", "plangate-ffi", "--lib", "--profile", profile]
    subprocess.run(command, cwd=CHECKOUT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", CHECKOUT / "target"))
    return target / ("debug" if profile == "dev" else profile) / "libplangate.so"


class WithLibrary(build_py):
    """Copies the library into the package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            to = Path(self.build_lib) / "plangate" / "libplangate.so"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library(), to)


class PlatformWheel(bdist_wheel):
    """For this platform, and any Python."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple:
        return ("py3", "none", super().get_tag()[2])


class WithBinary(Distribution):
    """Not a package of Python alone."""

    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": WithLibrary, "bdist_wheel": PlatformWheel}, distclass=WithBinary)

from spack.package import *

try:  # Spack 1.0 and later have it apart
    from spack_repo.builtin.build_systems.meson import MesonPackage
except ImportError:
    pass


class Op2jit(MesonPackage):
    """Loops over unstructured meshes, compiled while the program runs."""

    homepage = "https://op2jit.invalid"
    git = "https://op2jit.invalid/op2jit.git"  # change it to the group's clone: file:///home/group/op2jit
    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="ranks, by the MPI of the cluster")
    variant("hdf5", default=True, description="meshes and checkpoints in HDF5 files")
    variant("petsc", default=False, description="op_solve by PETSc")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@0.63:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type=("build", "run"))
    depends_on("llvm@16:19 +clang")
    depends_on("sqlite")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    requires("^openmpi", "^mpich", policy="one_of", when="+mpi", msg="the plugin for MPI is made for Open MPI and MPICH")
    depends_on("hdf5+mpi", when="+hdf5+mpi")
    depends_on("hdf5", when="+hdf5~mpi")
    depends_on("petsc@3.17: +mpi ~complex", when="+petsc")
    requires("+mpi", when="+petsc", msg="PETSc's plugin needs that of MPI")

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        config = join_path(self.spec["llvm"].prefix.bin, "llvm-config")
        return ["-Dtests=false", "-Dclang=auto", f"-Dllvm_config={config}", "-Dptscotch=disabled"] + [
            feature(name) for name in ("mpi", "hdf5", "petsc")
        ]

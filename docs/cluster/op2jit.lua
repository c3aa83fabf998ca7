-- Module file of op2jit for Lmod. Change `prefix` to where it was installed.
local prefix = "/group/op2jit/0.1.0"

whatis("op2jit 0.1.0: loops over unstructured meshes, compiled while the program runs")
conflict("op2jit")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))

#%Module1.0
# Module file of op2jit for Environment Modules and Lmod. Change `prefix` to where it was installed.
set prefix /group/op2jit/0.1.0

module-whatis "op2jit 0.1.0: loops over unstructured meshes, compiled while the program runs"
conflict op2jit
prepend-path PATH            $prefix/bin
prepend-path MANPATH         $prefix/share/man
prepend-path PKG_CONFIG_PATH $prefix/lib/pkgconfig
prepend-path CMAKE_PREFIX_PATH $prefix
prepend-path LD_LIBRARY_PATH $prefix/lib

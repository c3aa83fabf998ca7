/* The shared library is the static one as a whole; meson wants a file of its own for it. */
typedef int op2jit_exports_is_not_empty;

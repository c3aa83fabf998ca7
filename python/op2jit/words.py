"""Messages of the library say things by the names of C: here by those of Python."""

from __future__ import annotations

import re

#: Calls of C, and what a program in Python writes.
_CALLS = {
    "op_init": "op2jit.init",
    "op_exit": "op2jit.exit",
    "op_decl_set": "op2jit.Set",
    "op_decl_map": "op2jit.Map",
    "op_decl_map_long": "op2jit.Map",
    "op_decl_dat": "op2jit.Dat",
    "op_decl_dat_temp": "op2jit.Dat",
    "op_decl_dat_view": "op2jit.Dat",
    "op_decl_const": "op2jit.Const",
    "op_update_const": "Const.update",
    "op_decl_subset": "Set.subset",
    "op_par_loop": "op2jit.par_loop",
    "op_kernel_native": "op2jit.par_loop",
    "op_partition": "op2jit.partition",
    "op_fetch_data": "Dat.fetch",
    "op_put_data": "Dat.put",
    "op_acquire": "Dat.access",
    "op_release": "the end of Dat.access",
    "op_free_dat_temp": "Dat.free",
    "op_free_map": "Map.free",
    "op_free_set": "Set.free",
    "op_decl_mat": "op2jit.Mat",
    "op_zero_mat": "Mat.zero",
    "op_fix_mat": "Mat.fix",
    "op_fetch_mat": "Mat.fetch",
    "op_free_mat": "Mat.free",
    "op_solve": "Mat.solve",
    "op_solver_open": "Mat.petsc or Dat.vec",
    "op_solver_mat": "Mat.petsc",
    "op_solver_vec": "Dat.vec",
    "op_solver_place": "Dat.placed",
    "op_solver_end": "the end of Dat.vec or Dat.placed",
    "op_lend_end": "the end of Dat.vec",
    "op_place_end": "the end of Dat.placed",
}
_ACCESS = re.compile(r"\bOP_(READ|WRITE|RW|INC|MIN|MAX|WORK)\b")
_CALL = re.compile(r"\b(" + "|".join(sorted(_CALLS, key=len, reverse=True)) + r")\b")
#: What to write, for errors whose message speaks of arguments of C.
_INSTEAD = {
    "OP_ERR_MAP_SET": "; in Python dat(READ, map[0]) is the row of a target, and dat(READ) that of the loop's own element",
}


def in_python(name: str, message: str) -> str:
    """The message of an error with Python's names."""
    said = _ACCESS.sub(r"\1", _CALL.sub(lambda found: _CALLS[found[1]], message))
    return said.replace("OP_ID needs", "an argument without a map needs") + _INSTEAD.get(name, "")

"""Messages of the library say things by the names of C: here by those of Python."""

from __future__ import annotations

import re

#: Calls of C, and what a program in Python writes.
CALLS = {
    "OP_TYPE": "op2jit.record",
    "op_acquire": "Dat.access",
    "op_bar": "Dat.bar",
    "op_bar_const": "Const.bar",
    "op_bar_gbl": "Global.bar",
    "op_dot": "Dat.dot",
    "op_dot_const": "Const.dot",
    "op_dot_gbl": "Global.dot",
    "op_tangent": "op2jit.tangents",
    "op_tape_begin": "op2jit.tape",
    "op_tape_input_const": "op2jit.tape",
    "op_tape_input_gbl": "op2jit.tape",
    "op_tape_passive": "Tape.passive",
    "op_tape_end": "the end of op2jit.tape",
    "op_tape_step": "Tape.step",
    "op_tape_fixed_begin": "Tape.fixed_point",
    "op_tape_fixed_end": "the end of Tape.fixed_point",
    "op_tape_round": "Tape.fixed_point",
    "op_tape_reverse": "Tape.reverse",
    "op_tape_check": "Tape.check",
    "op_tape_facts": "Tape.facts",
    "op_tape_free": "Tape.free",
    "op_kernel_adjoint": "op2jit.adjoint_of",
    "op_freeze_kernel": "op2jit.freeze",
    "op_decl_graph": "op2jit.Graph",
    "op_free_graph": "Graph.free",
    "op_graph_type": "Graph.task",
    "op_graph_kernel": "Graph.kernel",
    "op_graph_resource": "Graph.resource",
    "op_graph_memory": "Graph.resource",
    "op_graph_own": "Graph.resource",
    "op_graph_task": "Graph.task",
    "op_graph_depend": "Graph.task",
    "op_graph_lock": "Graph.task",
    "op_graph_use": "Graph.task",
    "op_graph_loop": "Graph.loop",
    "op_graph_run": "Graph.run",
    "op_graph_simulate": "Graph.simulate",
    "op_graph_simulate_ranks": "Graph.simulate_ranks",
    "op_graph_ranks": "op2jit.Graph",
    "op_graph_owner": "Graph.resource",
    "op_graph_place": "Graph.task",
    "op_graph_key": "Graph.task",
    "op_graph_depend_key": "Graph.task",
    "op_graph_facts": "Graph.facts",
    "op_running_add": "Graph.add",
    "op_barrier": "op2jit.barrier",
    "op_counters": "op2jit.counters",
    "op_decl_gbl": "op2jit.Global",
    "op_get_gbl": "Global.value",
    "op_put_gbl": "Global.value",
    "op_get_size": "Set.size",
    "op_get_global_size": "Set.global_size",
    "op_decl_subset_range": "Set.subset",
    "op_decl_map_ragged": "Map.ragged",
    "op_map_entries": "Map.entries",
    "op_decl_prelude": "op2jit.record",
    "op_find_accesses": "op2jit.Loop",
    "op_free_gbl": "the end of a Global",
    "op_checkpoint": "op2jit.checkpoint",
    "op_checkpoint_keep": "op2jit.checkpoint_keep",
    "op_checkpoint_facts": "op2jit.checkpoint_facts",
    "op_plan_check": "op2jit.plan_check",
    "op_renumber_by": "op2jit.renumber",
    "op_report_json": "op2jit.report",
    "op_timing_output": "op2jit.timing_output",
    "op_write_vtk": "op2jit.write_vtk",
    "op_write_vtk_at": "op2jit.write_vtk",
    "op_dump_to_hdf5": "op2jit.dump",
    "op_fetch_data_hdf5_file_path": "op2jit.files.save",
    "op_decl_set_hdf5": "op2jit.files.load_set",
    "op_decl_map_hdf5": "op2jit.files.load_map",
    "op_decl_dat_hdf5": "op2jit.files.load_dat",
    "op_get_const_hdf5": "op2jit.files.load_const",
    "op_write_const_hdf5": "op2jit.files.save_const",
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
_CALL = re.compile(r"\b(" + "|".join(sorted(CALLS, key=len, reverse=True)) + r")\b")
_ROW = re.compile(r"\bOP_ROW\((\w+), ([^()]*)\)")
#: Words to write in Python, for errors whose message speaks of arguments of C.
_INSTEAD = {
    "OP_ERR_MAP_SET": "; in Python dat(READ, map[0]) is the row of a target, and dat(READ) that of the loop's own element",
}


def _rows(line: str) -> str:
    """Rows of ragged maps, as a kernel in Python has them."""
    said = re.sub(r"\bOP_ROW\(\.\., (\d+)\)", r"row \1", line)
    return _ROW.sub(r"\1[\2]", said).replace("go from 0 to n - 1", "go from 0 to len(x) - 1")


def in_python(name: str, message: str) -> str:
    """The message of an error with Python's names."""
    lines = [line if " | " in line else _rows(line) for line in message.split("\n")]  # lines of C stay
    message = "\n".join(lines)
    said = _ACCESS.sub(r"\1", _CALL.sub(lambda found: CALLS[found[1]], message))
    return said.replace("OP_ID needs", "an argument without a map needs") + _INSTEAD.get(name, "")

"""declared.py ROOT COMPILER: what runtime/api/declared.py reads in the headers is what a compiler reads there. All of it is
written again from the reading, behind the headers: another prototype, another place of a member or another value of a name
does not compile. Mistakes that are planted in what is read are found."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.argv[1], "runtime", "api"))
import declared  # noqa: E402
from declared import spelled  # noqa: E402

#: op2jit.h and its parts with calls in them; op2jit_names.h is made of these.
OWN = ["include/op2jit.h", *(f"include/op2jit_{part}.h" for part in ("io", "kernels", "matrix", "ragged", "tune"))]
HEADERS = [*OWN, "include/op2jit_struct.h", "include/op2jit_bridge.h", "include/op2jit_adjoint.h", "include/op2jit_checkpoint.h", "include/op2jit_tasks.h", "include/op2/op2jit_op2.h",
           "include/op2/op2jit_visible.h", "runtime/api/fortran/fortran.h"]  # fmt: skip
#: A change of what is read, the header, and what the compiler must say.
PLANTED = [
    ("op_set set, int dim, const char *type", "op_set set, long long dim, const char *type", "op2jit_decl_dat"),
    ("int op_release(op_dat dat);", "int op_release(op_map dat);", "op2jit_release"),
    ("int op_exit(void);", "void op_exit(void);", "op2jit_exit"),
    ("short soa_, may_meet_", "int soa_, may_meet_", "op_arg"),
    ("long long records;", "int records;", "op_counters_t"),
    ("OP_INC = 3", "OP_INC = 4", "OP_INC"),
    ("void op_barrier(void);", "void op_barrier(wide much);", "the type is unknown: wide much"),
]


def again(headers):
    """A program in C that says all once more."""
    lines = [f'#include "{header}"' for header in HEADERS]
    lines += [f"typedef struct op2jit_{name} op2jit_{name};" for name in ("set", "map", "dat")]
    for name in headers.prototypes:
        result, arguments = headers.call(name)
        lines.append(f"{spelled(result)}(op2jit_{name})({', '.join(map(spelled, arguments)) or 'void'});")
    for name in headers.bodies:
        members = headers.struct(name)
        lines.append(f"struct again_{name} {{ {' '.join(spelled(member) + ';' for member in members)} }};")
        lines.append(f'_Static_assert(sizeof({name}) == sizeof(struct again_{name}), "{name}");')
        for member in members:
            place = [f"offsetof({one}, {member.name})" for one in (name, "struct again_" + name)]
            width = [f"sizeof((({one} *)0)->{member.name})" for one in (name, "struct again_" + name)]
            lines += [f'_Static_assert({ours} == {theirs}, "{name}");' for ours, theirs in (place, width)]
    lines += [f'_Static_assert({name} == {value}, "{name}");' for name, value in headers.numbers.items() if name != "OP_UNSAID"]
    return "\n".join(lines) + "\n"


def said(root, compiler, headers):
    """What the compiler says of it; "" if nothing."""
    command = [compiler, "-std=gnu17", "-Werror", "-fsyntax-only", "-I", root, "-I", f"{root}/include", "-x", "c", "-"]
    found = subprocess.run(command, input=again(headers), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return found.stdout if found.returncode else ""


def planted(root, compiler, before, after):
    """The same, of a header in which one thing is read in another way."""
    paths = [os.path.join(root, header) for header in HEADERS]
    for place, path in enumerate(paths):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if before in text:
            break
    else:
        raise AssertionError(before)
    with tempfile.NamedTemporaryFile("w", suffix=".h", encoding="utf-8") as file:
        file.write(text.replace(before, after))
        file.flush()
        try:
            return said(root, compiler, declared.Headers([*paths[:place], file.name, *paths[place + 1 :]]))
        except SystemExit as problem:
            return str(problem)


def main():
    root, compiler = sys.argv[1:]
    headers = declared.Headers([os.path.join(root, header) for header in HEADERS])
    wrong = said(root, compiler, headers)
    if wrong:
        sys.exit(wrong)
    for before, after, name in PLANTED:
        if name not in planted(root, compiler, before, after):
            sys.exit(f"not found: {after} in the place of {before}")
    with open(os.path.join(root, "include", "op2jit_names.h"), encoding="utf-8") as file:
        if file.read() != declared.names(declared.Headers([os.path.join(root, header) for header in OWN])):
            sys.exit(f"op2jit_names.h is not of the other headers: runtime/api/declared.py include/op2jit_names.h {' '.join(OWN)}")
    if len(headers.prototypes) < 120:
        sys.exit(f"only {len(headers.prototypes)} calls were read")
    print(f"{len(headers.prototypes)} calls, {len(headers.bodies)} structs, {len(headers.numbers)} names, {len(PLANTED)} mistakes")


main()

"""Declarations of the headers in Fortran: interfaces, derived types, and procedures that do no more than one call.

    !$call op_decl_set(size, name?)                 the call op2jit_decl_set; ? may be left out
    !$call op_get_size(set) gives integer           its number is no code of an error
    !$call op_put_data%r8_1(dat, in) = f_put        put_data_r8_1 of the generic op_put_data, by op2jit_f_put
    !$call op_prelude_file(path, =c_null_char)      a value that is passed as it is

An argument stands for what the call has in its place. An array stands for its address, `is` (its type), and of `count` and
`extents` those that the call has; a section is copied where it is only read, else refused."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runtime", "api"))
from declared import Headers  # noqa: E402,F401

FORTRAN = {
    "int": "integer(c_int)", "long long": "integer(c_long_long)", "short": "integer(c_short)", "size_t": "integer(c_size_t)",
    "double": "real(c_double)", "char": "character(kind=c_char)", "pointer": "type(c_ptr)", "text": "type(c_ptr)",
}  # fmt: skip
SAID = re.compile(r"(op_\w+?)(?:%(\w+))?\((.*?)\)(?: = (\w+))?(?: gives (.+))?")


def type_of(value):
    if value.kind.endswith(" *"):
        return f"type({value.kind[:-2]})"
    return FORTRAN.get(value.kind, f"type({value.kind})")


def struct(members, name, others):
    """A derived type."""
    lines = [f"  type, bind(c) :: {name}"] + ["    private"] * members[0].name.endswith("_")
    for member in members:
        size = f"({member.count})" if member.count else ""
        kind = "type(c_ptr)" if member.kind.endswith(" *") else FORTRAN[member.kind]
        lines.append(f"    {kind} :: {others.get(member.name, member.name)}{size}")
    return lines + ["  end type"]


def dummy(value):
    """An argument of a call of C. A kernel's text is where it is: its address says which loop it is."""
    intent = "intent(in)" if value.const else "intent(inout)"
    if value.kind == "function" and value.depth:
        return [f"type(c_funptr), value :: {value.name}"]
    if value.kind == "function":
        return ["interface", f"  subroutine {value.name}() bind(c)", "  end subroutine", "end interface"]
    if value.kind == "text" and not value.name.endswith("_source"):
        return [f"character(kind=c_char), intent(in) :: {value.name}(*)"]
    if value.count is not None:
        return [f"{type_of(value)}, {intent} :: {value.name}({value.count or '*'})"]
    if value.kind.endswith(" *"):
        return [f"{type_of(value)}, {intent} :: {value.name}"]
    if value.kind == "pointer" and value.depth == 1 and not value.const and value.base in FORTRAN:
        return [f"{FORTRAN[value.base]}, {intent} :: {value.name}" + ("(*)" if value.base == "char" else "")]
    return [f"{type_of(value)}, value :: {value.name}"]


def interface(headers, name):
    """The interface of a call of C, which is named without its op2jit_."""
    result, arguments = headers.call(name)
    kind = "type(c_ptr)" if result.kind.endswith(" *") else FORTRAN.get(result.kind)
    what = "subroutine" if result.kind == "void" else f"{kind} function"
    lines = [f"{what} op2jit_{name}({', '.join(argument.name for argument in arguments)}) bind(c)", "  import"]
    for argument in arguments:
        lines += ["  " + line for line in dummy(argument)]
    return ["    " + line for line in lines + ["end " + what.split()[-1]]]


class Procedure:
    """A procedure with the arguments of one call, stat and errmsg."""

    ends = ["stat", "errmsg"]
    begin = ["call begin(stat)"]
    finish = ["call finish(stat, errmsg)"]

    def __init__(self, names):
        self.names = names
        self.generic = ""
        self.dummies, self.passed, self.types, self.before, self.after = [], [], [], [], []
        self.locals = ["integer, intent(out), optional :: stat", "character(*), intent(inout), optional :: errmsg"]
        self.takes_result = False

    def add(self, said, of):
        """An argument for the first of the call's that are left; how many it stands for."""
        name = said.rstrip("?")
        if said.startswith("="):
            self.passed.append(said[1:])
            return 1
        self.dummies.append(name)
        if [value.name for value in of[1:2]] == ["is"]:
            return self._add_values(name, of)
        kind, given = self.plain(name, of[0], said.endswith("?"))
        self.passed.append(given)
        self.types.append(f"{kind} :: {name}")
        return 1

    def plain(self, name, value, is_optional):
        """The declaration of an argument, and the words that pass it on."""
        intent = "intent(in), optional" if is_optional else "intent(in)"
        if value.kind == "text":
            return f"character(*), {intent}", f"name_or({name})" if is_optional else f"z({name})"
        if value.kind == "int":
            return f"integer, {intent}", f"int({name}, c_int)"
        if value.kind != "pointer" or value.depth:
            return f"{type_of(value)}, {intent}", name
        if is_optional:
            self.locals.append(f"type({value.base}) :: {name}_or_none")
            self.before.append(f"if (present({name})) {name}_or_none = {name}")
            name += "_or_none"
        return f"type({value.base}), {intent}", f"map_of({name})" if value.base == "op_map" else name + "%handle"

    def _add_values(self, name, of):
        self.takes_result = not of[0].const
        given = {"is": "v%is", "count": "v%count", "extents": "v%extents"}
        taken = [given[value.name] for value in of[1:4] if value.name in given]
        self.passed += ["v%at", *taken]
        intent = "inout" if self.takes_result else "in"
        self.types.append(f"{self.names['decl']}, intent({intent}), target :: {name}{self.names['dims']}")
        self.locals.append("type(values) :: v")
        self.before.append(f"v = values_of({name}, '{'' if self.takes_result else self.generic}')")
        self.after = [] if self.takes_result else ["call drop(v)"]
        return 1 + len(taken)

    def _refused(self, body):
        """A section cannot take a result."""
        refuse = f"code = op2jit_f_refuse_section(z('{self.generic}'))"
        return ["if (v%is_section) then", "  " + refuse, "else", "  " + body, "end if"] if self.takes_result else [body]

    def lines(self, name, call, result, gives):
        """The procedure's lines. A `result` that is the code of an error, or an address that the program has, stays here."""
        said = f"{call}({', '.join(self.passed)})"
        made, kind, hidden = "made", gives or FORTRAN.get(result.kind), ""
        if result.kind == "pointer" and not result.depth:
            made, kind = "made%handle", f"type({result.base})"
        elif result.kind == "text":
            made, kind = "made%text", "type(op_kernel)"
        elif result.kind == "pointer" or (result.kind == "int" and not gives):
            made = hidden = "code" if result.kind == "int" else "address"
        is_function = not hidden and result.kind != "void"
        lines = self.types + self.locals
        if self.takes_result and hidden != "code":
            lines.append("integer(c_int) :: code")
        if kind:
            lines.append(f"{kind} :: {hidden or 'made'}")
        lines += [*self.before, *self.begin, *self._refused(f"call {said}" if result.kind == "void" else f"{made} = {said}")]
        what = "function" if is_function else "subroutine"
        head = f"{what} {name}({', '.join(self.dummies + self.ends)})" + (" result(made)" if is_function else "")
        return ["  " + head, *["    " + line for line in lines + self.finish + self.after], f"  end {what}", ""]


class Plain(Procedure):
    """As OP2 has them."""

    ends, begin, finish = [], [], []

    def __init__(self, names):
        super().__init__(names)
        self.locals = []

    def plain(self, name, value, is_optional):
        if value.kind == "text":
            return "character(*)", f"{name}//c_null_char"
        if value.kind == "pointer":
            return f"type({value.base})", f"op2jit_{value.base[3:]}({name})"
        return type_of(value), name


def procedure(headers, said, made):
    """The generic name, the procedure's own, and its lines."""
    found = SAID.fullmatch(said)
    if not found:
        raise SystemExit(f"calls.py: not understood: {said}")
    generic, suffix, arguments, call, gives = found.groups()
    call = call or generic[3:]
    result, left = headers.call(call)
    made.generic = generic
    for argument in filter(None, arguments.split(", ")):
        if not left:
            raise SystemExit(f"calls.py: op2jit_{call} has no argument {argument}")
        left = left[made.add(argument, left):]
    if left:
        raise SystemExit(f"calls.py: {generic} leaves out {left[0].name} of op2jit_{call}")
    name = f"{generic[3:]}_{suffix}" if suffix else generic
    return generic, name, made.lines(name, "op2jit_" + call, result, gives)

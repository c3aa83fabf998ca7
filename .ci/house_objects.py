"""What an object file says, read from its ELF tables: which names it defines, which it wants from others, and which of its data hold
addresses of functions."""
import json
import os
import struct
from collections import namedtuple

# defines, wants: names that other objects see; functions: all that it has; hands: (the name of data or "", what it holds);
# takes: of what its code takes the address
Object = namedtuple("Object", "defines wants functions hands takes")
Section = namedtuple("Section", "name type flags offset size link info entry")
Symbol = namedtuple("Symbol", "name kind binding section value size")

SYMBOLS, RELOCATIONS, ALLOCATED, EXECUTABLE = 2, 4, 2, 4
DATA, FUNCTION, SECTION_ITSELF = 1, 2, 3
WHOLE, RELATIVE = 1, (2, 9, 41, 42)  # relocations of x86-64: 8 bytes of data; 4 bytes of code, also by the table of addresses
LEA, LOAD = 0x8D, 0x8B


def text_at(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


def read_sections(data):
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    return [Section(text_at(data, raw[names][4] + r[0]), r[1], r[2], r[4], r[5], r[6], r[7], r[9]) for r in raw]


def read_symbols(data, sections):
    found = []
    for section in sections:
        if section.type == SYMBOLS:
            strings = sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, section.entry):
                name, info, _, where, value, size = struct.unpack_from("<IBBHQQ", data, at)
                found.append(Symbol(text_at(data, strings + name), info & 15, info >> 4, where, value, size))
    return found


def relocations(data, sections, symbols):
    """Each place that the linker fills with the address of something: (section, place, kind, what)."""
    starts = {(s.section, s.value): s.name for s in symbols if s.kind == FUNCTION}
    for section in sections:
        if section.type == RELOCATIONS and sections[section.info].flags & ALLOCATED:
            for at in range(section.offset, section.offset + section.size, section.entry):
                place, info, addend = struct.unpack_from("<QQq", data, at)
                kind, target = info & 0xFFFFFFFF, symbols[info >> 32]
                if target.kind == SECTION_ITSELF:
                    name = starts.get((target.section, addend + (0 if kind == WHOLE else 4)))
                else:
                    name = target.name if target.kind != DATA else None
                if name:
                    yield section.info, place, kind, name


def addresses(data, sections, symbols):
    """What data hold, as (the name of the data, what), and what code takes the address of: by lea, or from the linker's table."""
    hands, takes = set(), set()
    for section, place, kind, name in relocations(data, sections, symbols):
        if sections[section].flags & EXECUTABLE:
            if kind in RELATIVE and data[sections[section].offset + place - 2] in (LEA, LOAD):
                takes.add(name)
        elif kind == WHOLE:
            holders = [s.name for s in symbols if s.section == section and s.kind == DATA and s.value <= place < s.value + s.size]
            hands.add((holders[0].split(".")[0] if holders else "", name))
    return hands, takes


def read_object(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\x02\x01" or data[18:20] != b"\x3e\0":
        raise OSError(f"{path} is not an object file for x86-64")
    sections = read_sections(data)
    symbols = read_symbols(data, sections)
    shared = [s for s in symbols if s.binding and s.name]
    return Object({s.name for s in shared if s.section}, {s.name for s in shared if not s.section},
                  {s.name for s in symbols if s.kind == FUNCTION}, *addresses(data, sections, symbols))


def compiled(root, build):
    """The objects of a build directory: (source file below root, object file), as its compile commands have them."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            source = os.path.relpath(os.path.join(build, command["file"]), root)
            yield source, command["output"]

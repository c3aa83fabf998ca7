"""embed.py FILE NAME OUT.c: FILE as a C array of char, with a NUL behind it."""
import sys

source, name, target = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
with open(target, "w", encoding="ascii") as out:
    out.write(f'/* Made from {source.rsplit("/", 1)[-1]}. */\n#include "report/{source.rsplit("/", 1)[-1].split(".")[0]}.h"\n\n')
    out.write(f"const char {name}[] = {{\n")
    for at in range(0, len(data), 24):
        out.write("  " + ", ".join(str(byte if byte < 128 else byte - 256) for byte in data[at:at + 24]) + ",\n")
    out.write("  0};\n")

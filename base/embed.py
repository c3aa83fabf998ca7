"""embed.py OUT.c NAME FILE...: each NAME as a C array of char, with a NUL behind what is in FILE."""
import sys

target, pairs = sys.argv[1], sys.argv[2:]
with open(target, "w", encoding="ascii") as out:
    for name, source in zip(pairs[::2], pairs[1::2]):
        with open(source, "rb") as file:
            data = file.read()
        out.write(f"extern const char {name}[];\nconst char {name}[] = {{\n")
        for at in range(0, len(data), 24):
            out.write("  " + ", ".join(str(byte if byte < 128 else byte - 256) for byte in data[at:at + 24]) + ",\n")
        out.write("  0};\n")

"""Facts travel as codes: nothing in the product looks into a sentence made for people to know what happened. A message that
is worded anew must not change what a program does.

usage: sentences.py [FOLDER]    calls that compare or search a message, a line each; status 1 if there are any

It sees calls of FUNCTIONS and METHODS with an argument that is a message by its name (MESSAGES), or a text of two words or more,
written there or in a constant of the same file. What others say may be read: words of another program, of a file, of a kernel.
Such a call has a comment on its line, or on the one above it, that says whose they are: "not a message: the words of NVRTC"."""
import os
import re
import sys

import house
import house_text

FUNCTIONS = r"\b(?:strn?(?:case)?cmp|str(?:case)?str|memmem|memcmp|fnmatch|regexec)\s*\("
METHODS = r"(?:\.|->)(?:find|rfind|contains|(?:starts|ends)_with|compare)\s*\("
CALL = re.compile(FUNCTIONS + "|" + METHODS)
COMPARED = re.compile(r"\b(?:why|reason)\s*[!=]=\s*(?!nullptr\b)[a-z]\w*\b")
MESSAGES = re.compile(r"\berror_message\s*\(|\b(?:message|messages|why|reason|remedy|warnings?|told|doubt)\b")
SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:]? [A-Za-z]{2,}")
STRING = r'(?:"(?:\\.|[^"\\\n])*"\s*)+'
CONSTANT = re.compile(r"\b(\w+)\s*\[\w*\]\s*=\s*(" + STRING + r")|^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(" + STRING + ")", re.M)
ALLOWED = "not a message: "


def without_comments(text):
    """Comments become blank lines; strings stay."""
    def quiet(match):
        found = match.group(0)
        return "\n" * found.count("\n") or " " if found.startswith(("//", "/*")) else found

    return house_text.SILENT.sub(quiet, text)


def is_sentence(string):
    words = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', string)).replace("\\n", "\n")
    return SENTENCE.search(words) and not words.lstrip().startswith("#")


def arguments(text, begin):
    """What stands between the brackets of a call."""
    depth = 1
    for match in re.compile(STRING + r"|'(?:\\.|[^'\\\n])*'|[()]").finditer(text, begin):
        depth += {"(": 1, ")": -1}.get(match.group(0), 0)
        if not depth:
            return text[begin:match.start()]
    return text[begin:]


def looks_into_message(given, sentences):
    bare = re.sub(STRING, " ", given)
    return (MESSAGES.search(bare) or sentences & set(re.findall(r"\w+", bare))
            or any(is_sentence(string) for string in re.findall(STRING, given)))


def against(path, text):
    clean, lines = without_comments(text), text.split("\n")
    sentences = {found[0] or found[2] for found in CONSTANT.findall(clean) if is_sentence(found[1] or found[3])}
    calls = [(match, arguments(clean, match.end())) for match in CALL.finditer(clean)]
    found = [(match.start(), f"{match.group(0)}{given})") for match, given in calls if looks_into_message(given, sentences)]
    found += [(match.start(), match.group(0)) for match in COMPARED.finditer(clean)]
    for at, words in sorted(found):
        number = clean.count("\n", 0, at)
        if not any(ALLOWED in line for line in lines[max(number - 1, 0):number + 1]):
            yield f"{path}:{number + 1}: {' '.join(words.split())} looks into a message: let a code say it"


def main(root):
    files = house.sources(root, house.PRODUCT)
    found = [line for path, source in files.items() for line in against(path, source.text)]
    print("\n".join(found) if found else f"{len(files)} files look into no message")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

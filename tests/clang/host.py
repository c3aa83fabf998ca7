"""The plugin in a Python process, which opens libraries with RTLD_LOCAL: host.py PLUGIN"""
import ctypes
import os
import sys


class File(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("text", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class Request(ctypes.Structure):
    _fields_ = [("files", ctypes.POINTER(File)), ("nfiles", ctypes.c_int), ("cpu", ctypes.c_char_p),
                ("features", ctypes.c_char_p), ("fp", ctypes.c_char_p), ("debug", ctypes.c_int),
                ("warnings", ctypes.c_int), ("remarks", ctypes.c_int), ("trial", ctypes.c_int),
                ("processor", ctypes.c_char_p), ("lowered", ctypes.c_void_p)]


class Message(ctypes.Structure):
    _fields_ = [("severity", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_int),
                ("column", ctypes.c_int), ("text", ctypes.c_char_p)]


class Result(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("binary", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("messages", ctypes.POINTER(Message)), ("nmessages", ctypes.c_int), ("front", ctypes.c_double),
                ("middle", ctypes.c_double), ("back", ctypes.c_double), ("owner", ctypes.c_void_p)]


COMPILE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Request), ctypes.POINTER(Result))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Result))
VERSION = ctypes.CFUNCTYPE(ctypes.c_char_p)


class Compiler(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_int), ("name", ctypes.c_char_p), ("version", VERSION), ("compile", COMPILE),
                ("release", RELEASE)]


library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)
library.op2jit_compiler.restype = ctypes.POINTER(Compiler)
compiler = library.op2jit_compiler().contents
text = b"int f(int x) { return x + 1; }\n"
for source, status in ((text, 0), (b"int f(", 1), (text, 0)):
    file = File(b"f.c", source, len(source))
    request = Request(ctypes.pointer(file), 1, b"x86-64", b"+sse2", b"strict", 0, 0, 0)
    result = Result()
    compiler.compile(ctypes.byref(request), ctypes.byref(result))
    assert result.status == status, (result.status, status)
    if status == 0:
        assert ctypes.string_at(result.binary, 4) == b"\x7fELF"
    else:
        assert result.nmessages > 0 and result.messages[0].line == 1
    compiler.release(ctypes.byref(result))

"""Functions that Python, math and NumPy have and C has as well, and small ones in C that do as Python does."""

from __future__ import annotations

import math
from typing import Any, Dict, Tuple

import numpy as np

#: Functions of real numbers: what Python has and what C calls it. Those of math compute in double, NumPy's in the
#: type of their arguments.
_SHARED = (
    "sin cos tan sinh cosh tanh exp expm1 log log2 log10 log1p sqrt hypot copysign fabs asin:arcsin acos:arccos "
    "atan:arctan atan2:arctan2 asinh:arcsinh acosh:arccosh atanh:arctanh pow:power fmod"
).split()
_NUMPY = "cbrt exp2 floor ceil rint trunc fmax fmin".split()
_MATH = "erf erfc lgamma gamma:tgamma cbrt exp2".split()


def _table() -> Dict[Any, Tuple[str, bool]]:
    found: Dict[Any, Tuple[str, bool]] = {}
    for word in _SHARED:
        name, _, numpy_name = word.partition(":")
        found[getattr(math, name)] = (name, False)
        found[getattr(np, numpy_name or name)] = (name, True)
    for name in _NUMPY:
        found[getattr(np, name)] = (name, True)
    for word in _MATH:
        name, _, c_name = word.partition(":")
        if hasattr(math, name):
            found[getattr(math, name)] = (c_name or name, False)
    return found


#: Object of Python: C's name, and whether it computes in the type of its arguments.
REAL: Dict[Any, Tuple[str, bool]] = _table()
TWO = {"hypot", "copysign", "atan2", "pow", "fmod", "fmax", "fmin"}
#: To whole numbers.
ROUND = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc", round: "rint"}
TESTS = {
    math.isnan: "isnan",
    math.isinf: "isinf",
    math.isfinite: "isfinite",
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
}
CASTS: Dict[Any, str] = {
    float: "double",
    int: "python int",
    bool: "bool",
    np.float64: "double",
    np.float32: "float",
    np.int32: "int",
    np.uint32: "unsigned int",
    np.int64: "long long",
    np.uint64: "unsigned long long",
    np.int16: "short",
    np.int8: "char",
    np.bool_: "bool",
}
ABSOLUTE = (abs, np.abs, np.absolute)
EXTREMA: Dict[Any, Tuple[str, str]] = {
    min: ("py_min", "b < a ? b : a"),
    max: ("py_max", "b > a ? b : a"),
    np.minimum: ("np_minimum", "a < b || a != a ? a : b"),
    np.maximum: ("np_maximum", "a > b || a != a ? a : b"),
}
#: Functions of Python and NumPy that take a row.
ROWS: Dict[Any, str] = {sum: "sum", np.sum: "sum", min: "min", np.min: "min", max: "max", np.max: "max"}
MAKERS = (np.zeros, np.empty, np.ones, np.eye)
NAMES = {name for name, _ in REAL.values()}
#: Words that C has to itself: variables of these names get an underscore.
KEYWORDS = set(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool "
    "true false main uint ll ull y0 y1 yn j0 j1 jn signbit "
    # and those that its headers declare
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor "
    "fma fmax fmin fmod frexp hypot ilogb ldexp lgamma gamma llrint llround log log10 log1p log2 logb lrint lround "
    "modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn sin sinh sqrt tan "
    "tanh tgamma trunc drem significand isnan isinf isfinite isnormal fpclassify INFINITY NAN HUGE_VAL NULL EOF "
    "M_PI M_E M_PI_2 M_PI_4 M_1_PI M_2_PI M_SQRT2 M_SQRT1_2 M_LN2 M_LN10 M_LOG2E M_LOG10E M_2_SQRTPI "
    "abs labs llabs div ldiv atoi atof atol strtol strtod rand srand random malloc calloc realloc free exit _Exit "
    "abort atexit getenv system qsort bsearch printf fprintf sprintf snprintf puts putchar getchar scanf fopen fclose "
    "stdin stdout stderr memcpy memmove memset memcmp strlen strcpy strcmp strcat assert offsetof index rindex time "
    "clock signal raise read write open close asm typeof complex imaginary I alignas alignof noreturn thread_local "
    "class new this private public protected template typename namespace delete try catch throw operator friend "
    "virtual mutable explicit export using and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq decltype half "
    "global local kernel constant threadIdx blockIdx blockDim gridDim warpSize wchar_t char16_t char32_t errno "
    "static_assert linux unix nullptr constexpr min max int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t "
    "uint64_t size_t ssize_t ptrdiff_t intptr_t uintptr_t wchar_t INT_MIN INT_MAX LONG_MAX DBL_MAX DBL_MIN "
    "DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON".split()
)


#: Beginnings of the names of functions and macros that are written in front of kernels.
BEGINNINGS = ("op2", "OP2", "OP_", "op_", "py_", "np_", "__", "OP")


def short_of(kind: str) -> str:
    """A type as part of a name."""
    return {"unsigned int": "uint", "long long": "ll", "unsigned long long": "ull"}.get(kind, kind)


def _made(name: str, kind: str, parameters: str, body: str, result: str = "") -> Tuple[str, str]:
    """A small function for a type, T in its texts."""
    name = f"{name}_{short_of(kind)}"
    words = f"static {result or kind} {name}({parameters}) {{ {body} }}"
    return name, words.replace("T ", kind + " ").replace("(T)", f"({kind})")


def _suffix(kind: str) -> str:
    return "f" if kind == "float" else ""


def floor_divide(kind: str) -> Tuple[str, str]:
    """The function that does as Python's // and its text."""
    if kind in ("float", "double"):
        f = _suffix(kind)
        body = (
            f"T m = fmod{f}(a, b), d = (a - m) / b; if (m != 0 && (b < 0) != (m < 0)) d -= 1; "
            f"if (d == 0) return copysign{f}(0, a / b); T w = floor{f}(d); return d - w > 0.5{f} ? w + 1 : w;"
        )
    elif kind.startswith("unsigned"):
        body = "return a / b;"
    else:
        body = "return a / b - (a % b != 0 && (a < 0) != (b < 0));"
    return _made("py_floordiv", kind, "T a, T b", body)


def modulo(kind: str) -> Tuple[str, str]:
    """The function that does as Python's % and its text."""
    if kind in ("float", "double"):
        f = _suffix(kind)
        body = (
            f"T m = fmod{f}(a, b); if (m == 0) return copysign{f}(0, b); "
            "return (b < 0) != (m < 0) ? m + b : m;"
        )
    elif kind.startswith("unsigned"):
        body = "return a % b;"
    else:
        body = "T m = a % b; return m != 0 && (b < 0) != (m < 0) ? m + b : m;"
    return _made("py_mod", kind, "T a, T b", body)


def power(kind: str) -> Tuple[str, str]:
    """A whole number by itself n times."""
    body = "T r = 1; for (; n > 0; n >>= 1) { if (n & 1) r *= a; if (n > 1) a *= a; } return r;"
    return _made("py_pow", kind, "T a, long long n", body)


def shift(kind: str, left: bool) -> Tuple[str, str]:
    """Shifts by more than a type has bits, which C leaves open."""
    if left:
        words = "return n > 63 ? 0 : (T)((unsigned long long)a << n);"
        return _made("py_shl", kind, "T a, long long n", words)
    words = f"return n > {31 if kind == 'int' else 63} ? (a < 0 ? (T)-1 : 0) : a >> n;"
    return _made("py_shr", kind, "T a, long long n", words)


def extremum(function: Any, kind: str) -> Tuple[str, str]:
    """The function that does as min, max and NumPy's, and its text."""
    name, body = EXTREMA[function]
    return _made(name, kind, "T a, T b", f"return {body};")


def absolute(kind: str) -> Tuple[str, str]:
    """The function that does as abs for whole numbers, and its text."""
    return _made("py_abs", kind, "T a", "return a < 0 ? -a : a;")


def index(kind: str) -> Tuple[str, str]:
    """An index that is counted from the end if it is negative."""
    return _made("py_index", kind, "T i, int n", "return i < 0 ? i + n : i;")


#: A real number as a whole one of 64 bits without a sign: one that is negative wraps around.
UNSIGNED = (
    "py_ull",
    "static unsigned long long py_ull(double a) { return a < 0 ? (unsigned long long)(long long)a : (unsigned long long)a; }",
)
#: The order of a signed and an unsigned number of 64 bits, and of a whole and a real one: below 0, 0, above, or NaN.
ORDER = (
    "py_order",
    "static int py_order(long long a, unsigned long long b) "
    "{ return a < 0 || (unsigned long long)a < b ? -1 : (unsigned long long)a > b; }",
)
ORDER_REAL = (
    "py_order_real",
    "static double py_order_real(long long a, double b) { if (b != b) return b; if (b >= 9223372036854775808.0) "
    "return -1; if (b < -9223372036854775808.0) return 1; long long w = (long long)b; "
    "if (a != w) return a < w ? -1 : 1; b -= (double)w; return b > 0 ? -1 : b < 0; }",
)

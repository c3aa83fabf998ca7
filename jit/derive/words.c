/* Why a kernel has no derivative: codes become words here, and nowhere else. */
#include "jit/derive/derive.h"
#include "jit/proof/prove.h"

/* $x is the name, $0 the number. */
struct words {
  const char *reason, *remedy;
};

static const struct words table[DERIVE_REFUSAL_COUNT] = {
    [DERIVE_FINE] = {"", ""},
    [DERIVE_NO_RULE] = {"the derivative of $x is not known",
                        "write the function into the kernel's text, or give the kernel's adjoint by hand"},
    [DERIVE_WRITTEN_AT] =
        {"$x is written at an index that is known at run time only",
         "give the loop over it a constant number of rounds, or branch over constant indices"},
    [DERIVE_POINTER] = {"the pointer$x may lead to several places, or beyond its row",
                        "choose between the values in place of the pointers"},
    [DERIVE_POINTER_CAST] = {"memory$x is used as another type", "use it as the type it has"},
    [DERIVE_NO_BOUND] =
        {"the loop carries values that its reverse needs of each round, and nothing says how many rounds "
         "there are at most",
         "add a bound to its condition, as in `it < 30 && ...` (up to 4096), or carry sums only"},
    [DERIVE_GOTO] = {"goto has no derivative here", "use loops, break and return"},
    [DERIVE_STATEMENT] = {"$x has no rule here", "write it in another way"},
    [DERIVE_TYPE] = {"there is no rule for the type $x",
                     "use float, double, integers, arrays and structs of them"},
    [DERIVE_CXX] = {"it is C++, and only C is differentiated", "write it as C"},
    [DERIVE_UNSET] = {"$x is read before it has a value", "give it a value where it is declared"},
    [DERIVE_RAGGED_EXTREMUM] = {"$x is OP_MIN or OP_MAX through a ragged map",
                                "loop over the entries, and pass the target by an ordinary map"},
    [DERIVE_KEPT] = {"$x keeps its value from element to element", "make it a constant, or an argument"},
    [DERIVE_TOO_LONG] = {"the derivative's text would be too long: more than $0 operations",
                         "make the kernel smaller, or several of it"},
    [DERIVE_TOO_MANY] = {"the derivative would have $0 arguments, more than a loop takes",
                         "declare dats that need no derivative passive, or make several loops of it"},
    [DERIVE_NO_KERNEL] = {"its parameters are not the arguments of the loop",
                          "pass one argument per parameter"},
};

static void put(const char *words, const struct derive_result *result, struct text *out) {
  for (; *words; words++)
    if (*words != '$')
      text_add_char(out, *words);
    else if (*++words == '0')
      text_addf(out, "%d", result->numbers[0]);
    else {
      /* "the pointer p", but "the pointer" of one without a name */
      const bool apart = out->length && out->data[out->length - 1] != ' ' && result->name[0];
      text_addf(out, "%s%s", apart ? " " : "", result->name);
    }
}

void derive_tell(const struct desc *d, const struct derive_result *result, const char *kernel_file,
                 struct text *out) {
  const struct words *words = &table[result->refusal];
  const bool placed = prove_title(d, result->file, result->line, result->column, kernel_file, out);
  text_add(out, " cannot be differentiated: ");
  put(words->reason, result, out);
  text_add(out, "; ");
  put(words->remedy, result, out);
  if (placed)
    prove_excerpt(d, result->line, result->column, out);
}

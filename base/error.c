#include "error.h"

#include <stdlib.h>
#include <string.h>

#define ROW(code, meaning, remedy) [code] = {#code, meaning, remedy}

static const struct error_kind kinds[OP_ERR_COUNT_] = {
    ROW(OP_OK, "Nothing failed.", ""),
    ROW(OP_ERR_STATE,
        "The call is not allowed now: before op_init, after op_exit, or op_init twice; a dat that is "
        "acquired, or a set in use, that is freed.",
        "Call op_init once before everything else and op_exit last. The message says what is to be released "
        "or freed first."),
    ROW(OP_ERR_BUSY, "Another call is running, in a second thread or around a kernel.",
        "Call the library from one thread at a time, and never from inside a kernel."),
    ROW(OP_ERR_ARGUMENT, "An argument of the call is NULL or outside its range.",
        "The message names the argument and what it may be."),
    ROW(OP_ERR_HANDLE, "A set, map or dat is NULL, was freed, or was not made by this library since op_init.",
        "Check that the declaration succeeded and that the handle is used before op_exit."),
    ROW(OP_ERR_SIZE,
        "A size is negative, its bytes cannot be addressed, or `OP_WORK` arguments take more than 1 MiB "
        "together.",
        "Sizes are counts of elements from 0 up. The message names what is too large."),
    ROW(OP_ERR_TYPE,
        "A type name is unknown, or does not match the declaration or what the pointer points to.",
        "Use the name that the dat was declared with, and C variables of that type; the message lists all "
        "names."),
    ROW(OP_ERR_DIM,
        "A dim does not match the declaration, or the first extent of a Fortran array, or is not positive.",
        "Repeat the dim of the declaration in the argument. In Fortran declare arrays (dim, n)."),
    ROW(OP_ERR_ACCESS, "An access is unknown, or cannot be used with this argument.",
        "The message lists those that can. A dat: `OP_READ`, `OP_WRITE`, `OP_RW`, `OP_INC`, `OP_MIN`, "
        "`OP_MAX`. A global: `OP_READ`, `OP_INC`, `OP_MIN`, `OP_MAX`, `OP_WORK`; over a set of one element "
        "also `OP_WRITE` and `OP_RW`."),
    ROW(OP_ERR_MAP_RANGE, "A map has an entry outside its target set.",
        "Entries count from 0, in Fortran from 1. In C, if the mesh counts from 1, subtract 1."),
    ROW(OP_ERR_MAP_SET, "A map does not lead from the loop's set to the dat's set.",
        "Pass the map that starts at the set of the loop and ends at the set of the dat."),
    ROW(OP_ERR_INDEX, "A map index is outside the map's arity.",
        "Use 0 .. arity-1 for one column or -arity for all; -1 with OP_ID."),
    ROW(OP_ERR_RANGE, "A range of elements is outside the set.", "0 <= low <= high < size; both ends count."),
    ROW(OP_ERR_KERNEL, "A kernel's text has no function that fits the loop, or is not what a kernel may be.",
        "The text needs a function with the kernel's name that returns void. It has one parameter for each "
        "argument of the loop, in their order: a pointer to the argument's type, to const if it is "
        "`OP_READ`. The message has the line, and what to write."),
    ROW(OP_ERR_COMPILE, "A kernel text does not compile.",
        "The message has the compiler's words and the line."),
    ROW(OP_ERR_MEMORY, "There is not enough memory.", "The message says for what and how many bytes."),
    ROW(OP_ERR_BACKEND, "OP2_BACKEND names a backend that is unknown, not built, or cannot run here.",
        "The message lists the ones that can, and what is missing for this one."),
    ROW(OP_ERR_ENV, "An OP2_* variable has a wrong value.",
        "`op2jit info` prints every variable with its values."),
    ROW(OP_ERR_NOT_BUILT, "A part of the library was not built.",
        "The message names the package that it needs; build again with it installed."),
    ROW(OP_ERR_CONST, "A constant is unknown, or was declared with another dim or type.",
        "Declare it once with op_decl_const before the first loop that uses it."),
    ROW(OP_ERR_FILE, "A file cannot be read or written, or is not what it should be.",
        "The message has the path and the system's reason."),
    ROW(OP_ERR_CACHE_MISS, "OP2_JIT=load, and a loop would have to be compiled.",
        "Run once with OP2_JIT=on to fill the cache; the message names the loop and which part of its key "
        "changed."),
    ROW(OP_ERR_ALIAS,
        "One dat is passed twice, or written by several ranks, in a way whose result depends on the order of "
        "elements.",
        "Pass it once, or keep the result in a dat of its own."),
    ROW(OP_ERR_VIOLATION, "A kernel does not do what its access descriptors say.",
        "The message has the line and the declaration that would be right."),
    ROW(OP_ERR_PLAN, "An execution plan does not hold what it claims.",
        "This is a mistake of the library; please report it with the message."),
    ROW(OP_ERR_DEVICE, "A GPU or its driver failed.",
        "The message has the driver's words, and names the loops that may have caused it."),
    ROW(OP_ERR_MPI, "MPI failed, or the ranks do not agree.", "The message names the ranks and both values."),
    ROW(OP_ERR_METHOD, "A method name is unknown.", "The message lists the names."),
    ROW(OP_ERR_NARGS, "A loop has no arguments or more than OP_MAX_ARGS.",
        "Combine dats or globals, or split the loop."),
    ROW(OP_ERR_GRAPH, "Tasks of a graph wait for one another in a circle, so that none can begin.",
        "The message names the tasks; one of their dependencies is too many."),
    ROW(OP_ERR_SOLVER, "A solver failed, did not converge, or is not one that the library can use.",
        "The message has the solver's reason. Other options may do: another preconditioner, more iterations, "
        "a "
        "larger tolerance."),
    ROW(OP_ERR_INTERNAL, "The library made a mistake.", "Please report it with the message."),
};

const struct error_kind *error_kind(int code) {
  if (code < 0 || code >= OP_ERR_COUNT_ || !kinds[code].name)
    code = OP_ERR_INTERNAL;
  return &kinds[code];
}

/* The arguments may point into the old message, so the new one is built beside it. */
static int set(struct error *err, int code, const char *format, va_list args, const char *behind) {
  struct text message = {0};
  text_vaddf(&message, format, args);
  text_add(&message, behind);
  text_free(&err->message);
  *err = (struct error){.code = code, .message = message};
  return code;
}

int error_set(struct error *err, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  code = set(err, code, format, args, "");
  va_end(args);
  return code;
}

int error_mistake(struct error *err, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  code = set(err, code, format, args, "; this is a mistake of the library, please report it");
  va_end(args);
  return code;
}

int error_memory(struct error *err, const char *what, size_t bytes) {
  return error_set(err, OP_ERR_MEMORY,
                   "out of memory: no %zu bytes for %s; use a smaller mesh, fewer temporaries or a machine "
                   "with more memory",
                   bytes, what);
}

int error_memory_of(struct error *err, const char *what, const char *name, size_t bytes) {
  struct text words = {0};
  text_addf(&words, "%s \"%s\"", what, name ? name : "unnamed");
  const int code = error_memory(err, text_ok(&words) ? text_str(&words) : what, bytes);
  text_free(&words);
  return code;
}

int error_prefix(struct error *err, const char *format, ...) {
  struct text message = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&message, format, args);
  va_end(args);
  const size_t prefix = message.length;
  text_add(&message, error_message(err));
  if (text_ok(&message)) {
    text_free(&err->message);
    err->message = message;
    err->prefix = prefix;
  } else
    text_free(&message);
  return err->code;
}

const char *error_message(const struct error *err) {
  if (err->message.failed || (err->code && err->message.length == 0))
    return err->code == OP_ERR_MEMORY ? "out of memory, also for a longer message"
                                      : error_kind(err->code)->meaning;
  return text_str(&err->message);
}

const char *error_bare(const struct error *err) {
  const char *message = error_message(err);
  return message + (message == text_str(&err->message) ? err->prefix : 0);
}

void error_clear(struct error *err) {
  text_clear(&err->message);
  *err = (struct error){.message = err->message};
}

void error_free(struct error *err) {
  text_free(&err->message);
  *err = (struct error){0};
}

int error_copy(struct error *to, const struct error *from) {
  if (to != from) {
    error_set(to, from->code, "%s", error_message(from));
    to->teller = from->teller;
    to->fact = from->fact;
    to->prefix = from->prefix;
  }
  return to->code;
}

#include "jit/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/whereami.h"
#include "jit/key/elf_note.h"
#include "jit/load/load.h"

static const char file_name[] = "op2jit-clang.so";

/* The plugin's note has its name and the shared libraries that it takes clang from, which are part of its
 * identity. */
static void identify(struct plugin *p) {
  struct text words = {0};
  if (!elf_words(text_str(&p->path), &words))
    text_add(&words, "clang");
  char *rest = text_take(&words), *line = rest ? strsep(&rest, "\n") : NULL;
  char *whole = line;
  text_add(&p->identity, line ? line : "clang");
  text_add_char(&p->identity, '\n');
  elf_identity(text_str(&p->path), &p->identity);
  while (rest && (line = strsep(&rest, "\n")) != NULL && *line) {
    text_add_char(&p->identity, '\n');
    if (!elf_identity(line, &p->identity))
      text_add(&p->identity, line);
  }
  free(whole);
}

int plugin_find(struct plugin *p, const char *first, struct error *err) {
  if (load_missing(err)) /* no loader: code could not be run */
    return err->code;
  if (p->identity.length)
    return OP_OK;
  if (plugin_path(file_name, first, &p->path, err) != OP_OK)
    return error_prefix(
        err, "loops cannot be compiled for this processor: there is no compiler plugin; build with "
             "-Dclang=static (Debian: libclang-19-dev, llvm-19-dev) or name its folder in "
             "OP2_PLUGINS, or run the native forms with OP2_BACKEND=native: ");
  identify(p);
  return text_ok(&p->identity) ? OP_OK : error_memory(err, "the compiler's identity", p->identity.length);
}

int plugin_open(struct plugin *p, struct error *err) {
  if (p->compiler)
    return OP_OK;
  if (!p->library)
    p->library = dlopen(text_str(&p->path), RTLD_NOW | RTLD_LOCAL);
  if (!p->library) {
    const char *why = dlerror();
    return error_set(err, OP_ERR_BACKEND, "the compiler plugin does not open: %s",
                     why ? why : "no reason given");
  }
  /* POSIX makes the conversion right; ISO C has no word for it. */
  union {
    void *object;
    compiler_entry *function;
  } entry = {.object = dlsym(p->library, "op2jit_compiler")};
  const struct compiler *compiler = entry.object ? entry.function() : NULL;
  if (!compiler || compiler->abi != COMPILER_ABI)
    return error_set(err, OP_ERR_BACKEND,
                     "%s is not the compiler plugin of this version of op2jit; install both together",
                     text_str(&p->path));
  p->compiler = compiler;
  return OP_OK;
}

void plugin_free(struct plugin *p) {
  text_free(&p->path);
  text_free(&p->identity);
  *p = (struct plugin){0};
}

void plugin_label(const struct plugin *p, struct text *out) {
  text_add_bytes(out, text_str(&p->identity), strcspn(text_str(&p->identity), "\n"));
}

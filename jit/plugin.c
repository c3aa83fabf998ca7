#include "jit/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/whereami.h"
#include "jit/deriver.h"
#include "jit/key/elf_note.h"
#include "jit/load/load.h"
#include "jit/texts.h"

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
  if (!compiler || compiler->abi != COMPILER_ABI || compiler->prover->abi != PROVER_ABI ||
      compiler->deriver->abi != DERIVER_ABI || compiler->reader->abi != READER_ABI)
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

void jit_outcome_free(struct jit_outcome *o) {
  text_free(&o->binary);
  text_free(&o->messages);
}

/* Sends the text in parts of one size, so that a process without memory for the whole can take part. */
static int share_text(const struct jit_share *share, struct text *t, struct error *err) {
  char part[16384];
  size_t left = share->leads ? t->length : 0;
  int code = share->broadcast(share->ranks, &left, sizeof left, err);
  if (!share->leads)
    text_clear(t);
  for (size_t done = 0; !code && left; done += sizeof part) {
    const size_t size = left < sizeof part ? left : sizeof part;
    if (share->leads)
      memcpy(part, t->data + done, size);
    code = share->broadcast(share->ranks, part, size, err);
    if (!code && !share->leads)
      text_add_bytes(t, part, size);
    left -= size;
  }
  return code;
}

int jit_share_outcome(const struct jit_share *share, struct jit_outcome *o, int code, struct error *err) {
  struct {
    int code, fact;
    bool failed;
  } head = {.code = code, .fact = code ? err->fact : 0, .failed = o->failed};
  struct text words = {0};
  struct error trouble = {0};
  if (share->leads && !code && !(text_ok(&o->binary) && text_ok(&o->messages)))
    head.code = code = error_memory(err, "a copy of compiled code", o->binary.length);
  if (share->leads && code)
    text_add(&words, error_message(err));
  int status = share->broadcast(share->ranks, &head, sizeof head, &trouble);
  struct text *const texts[] = {&words, &o->binary, &o->messages};
  for (int i = 0; !status && i < 3; i++)
    status = share_text(share, texts[i], &trouble);
  o->failed = head.failed;
  if (status)
    code = error_copy(err, &trouble);
  else if (!share->leads && head.code) {
    code = error_set(err, head.code, "%s", text_str(&words));
    err->fact = head.fact;
  } else if (!code && !(text_ok(&o->binary) && text_ok(&o->messages)))
    code = error_memory(err, "compiled code", o->binary.length);
  text_free(&words);
  error_free(&trouble);
  return code;
}

int jit_share_kept(const struct jit_share *share, int code, bool *kept, struct error *err) {
  struct error trouble = {0};
  const bool mine = *kept;
  const int status = share->all(share->ranks, kept, &trouble);
  if (status) {
    *kept = false;
    code = code ? code : error_copy(err, &trouble);
  } else if (mine && !*kept && !code)
    code = error_set(err, OP_ERR_MEMORY, "another rank has no memory for the compiled code, and says so");
  error_free(&trouble);
  return code;
}

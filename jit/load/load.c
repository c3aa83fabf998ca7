#include "jit/load/load.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "jit/load/load_extern.h"
#include "jit/load/load_machine.h"
#include "jit/load/load_object.h"

struct code {
  unsigned char *image; /* the object, with its sections' addresses filled in; names point into it */
  struct object object;
  struct placed placed;
  struct externs externs;
  struct debug_entry *debug;
};

/* gdb's interface: it puts a breakpoint on the function, and reads the list when it is hit. The names and
 * shapes are gdb's. Weak and visible: if the process has another compiler of this kind, all share one list. */
struct debug_entry {
  struct debug_entry *next, *previous;
  const void *image;
  uint64_t size;
};
struct debug_descriptor {
  uint32_t version;
  uint32_t action;
  struct debug_entry *relevant, *first;
};
enum { DEBUG_NOTHING, DEBUG_REGISTER, DEBUG_UNREGISTER };

__attribute__((weak, visibility("default"))) extern struct debug_descriptor __jit_debug_descriptor;
__attribute__((weak, visibility("default"))) struct debug_descriptor __jit_debug_descriptor = {1, 0, NULL,
                                                                                               NULL};

__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code(void);
__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory"); /* or calls of an empty function would be left out */
}

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

/* `image` is an object whose sections have their true addresses; it must stay until debug_unregister.
 * NULL if there was no memory: the code runs all the same. */
static struct debug_entry *debug_register(const void *image, size_t size) {
  struct debug_entry *entry = calloc(1, sizeof *entry);
  if (!entry)
    return NULL;
  entry->image = image;
  entry->size = size;
  pthread_mutex_lock(&list_lock);
  entry->next = __jit_debug_descriptor.first;
  if (entry->next)
    entry->next->previous = entry;
  __jit_debug_descriptor.first = __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = DEBUG_REGISTER;
  __jit_debug_register_code();
  pthread_mutex_unlock(&list_lock);
  return entry;
}

static void debug_unregister(struct debug_entry *entry) {
  if (!entry)
    return;
  pthread_mutex_lock(&list_lock);
  if (entry->previous)
    entry->previous->next = entry->next;
  else
    __jit_debug_descriptor.first = entry->next;
  if (entry->next)
    entry->next->previous = entry->previous;
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = DEBUG_UNREGISTER;
  __jit_debug_register_code();
  __jit_debug_descriptor.relevant = NULL;
  __jit_debug_descriptor.action = DEBUG_NOTHING;
  pthread_mutex_unlock(&list_lock);
  free(entry);
}

static bool is_function(const struct code *code, size_t symbol) {
  const Elf64_Sym *s = &code->object.symbols[symbol];
  return ELF64_ST_TYPE(s->st_info) == STT_FUNC && code->placed.symbol_offset[symbol] != SIZE_MAX &&
         s->st_shndx < code->object.nsections &&
         (code->object.sections[s->st_shndx].sh_flags & SHF_EXECINSTR);
}

/* Adds lines to /tmp/perf-PID.map. What fails is left out: a profile is not worth an error. */
static void write_perf_map(const struct code *code, const char *label) {
  struct text path = {0}, line = {0};
  text_addf(&path, "/tmp/perf-%ld.map", (long)getpid());
  for (size_t s = 0; s < code->object.nsymbols; s++)
    if (is_function(code, s))
      text_addf(&line, "%zx %zx %s:%s\n",
                (size_t)(uintptr_t)(code->placed.region + code->placed.symbol_offset[s]),
                (size_t)code->object.symbols[s].st_size, label, code->object.symbol_names[s]);
  if (line.length && text_ok(&path) && text_ok(&line)) {
    /* The folder is everyone's, so links in it are not followed. */
    const int file = open(text_str(&path), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
      const ssize_t written = write(file, text_str(&line), line.length);
      (void)written;
      close(file);
    }
  }
  text_free(&path);
  text_free(&line);
}

/* ---- loading ---- */

/* A debugger reads the sections' addresses from the image itself. */
static void write_addresses(struct code *code) {
  Elf64_Ehdr header;
  memcpy(&header, code->image, sizeof header);
  for (size_t i = 1; i < code->object.nsections; i++)
    if (object_loads(&code->object, i)) {
      Elf64_Shdr *section = &code->object.sections[i];
      section->sh_addr = (Elf64_Addr)(uintptr_t)(code->placed.region + code->placed.section_offset[i]);
      memcpy(code->image + header.e_shoff + i * sizeof *section, section, sizeof *section);
    }
}

int load_missing(struct error *err) {
  if (load_machine_here())
    return OP_OK;
  return error_set(
      err, OP_ERR_NOT_BUILT,
      "loops cannot be compiled for this processor: op2jit has no loader for %s processors, only "
      "for x86-64 and aarch64; run the native forms with OP2_BACKEND=native",
      load_processor());
}

int code_load(struct code **out, const void *object, size_t size, const char *label, bool perf_map,
              struct error *err) {
  *out = NULL;
  if (load_missing(err))
    return err->code;
  struct code *code = calloc(1, sizeof *code);
  if (!code)
    return error_memory(err, "a loaded loop", sizeof *code);
  code->image = malloc(size ? size : 1);
  int failed = 0;
  if (!code->image)
    failed = error_memory(err, "a loaded loop", size);
  else if (size)
    memcpy(code->image, object, size);
  if (!failed)
    failed = object_read(&code->object, load_machine_here(), code->image, size, err);
  if (!failed)
    failed = place_object(&code->placed, &code->object, &code->externs, err);
  if (failed) {
    error_prefix(err, "loop %s: ", label);
    code_free(code);
    return failed;
  }
  write_addresses(code);
  code->debug = debug_register(code->image, size);
  if (perf_map)
    write_perf_map(code, label);
  *out = code;
  return 0;
}

void *code_symbol(const struct code *code, const char *name) {
  for (size_t s = 0; s < code->object.nsymbols; s++)
    if (is_function(code, s) && strcmp(code->object.symbol_names[s], name) == 0)
      return code->placed.region + code->placed.symbol_offset[s];
  return NULL;
}

range_function code_function(const struct code *code) {
  union {
    void *object;
    range_function function;
  } symbol = {.object = code_symbol(code, GENERATED_FUNCTION)};
  return symbol.function;
}

void code_free(struct code *code) {
  if (!code)
    return;
  debug_unregister(code->debug);
  placed_free(&code->placed);
  object_free(&code->object);
  externs_close(&code->externs);
  free(code->image);
  free(code);
}

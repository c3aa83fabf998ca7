#include "jit/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/load/load_debug.h"
#include "jit/load/load_extern.h"
#include "jit/load/load_machine.h"
#include "jit/load/load_object.h"
#include "jit/load/load_place.h"

struct code {
  unsigned char *image; /* the object, with its sections' addresses filled in; names point into it */
  struct object object;
  struct placed placed;
  struct externs externs;
  struct debug_entry *debug;
};

static bool is_function(const struct code *code, size_t symbol) {
  const Elf64_Sym *s = &code->object.symbols[symbol];
  return ELF64_ST_TYPE(s->st_info) == STT_FUNC && code->placed.symbol_offset[symbol] != SIZE_MAX &&
         s->st_shndx < code->object.nsections &&
         (code->object.sections[s->st_shndx].sh_flags & SHF_EXECINSTR);
}

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

static void write_perf_map(const struct code *code, const char *label) {
  for (size_t s = 0; s < code->object.nsymbols; s++)
    if (is_function(code, s))
      perf_map_add(code->placed.region + code->placed.symbol_offset[s], code->object.symbols[s].st_size,
                   label, code->object.symbol_names[s]);
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

size_t code_bytes(const struct code *code) {
  return code->placed.bytes;
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

// The processors that this plugin makes code for: the one that it runs on, and for tests a second one.
#include <dlfcn.h>
#include <mutex>

#include "jit/clang/back.h"
#include "jit/load/load_extern.h"

namespace op2jit {

static const Machine *const machines[] = {
#ifdef OP2JIT_X86_64
    &machine_x86_64,
#endif
#ifdef OP2JIT_AARCH64
    &machine_aarch64,
#endif
};

const Machine *find_machine(const compile_request &request) {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Machine *machine : machines)
      machine->initialise();
  });
  for (const Machine *machine : machines)
    if (!request.processor || llvm::StringRef(machine->processor) == request.processor)
      return machine;
  return nullptr;
}

static bool is_here(const std::string &name) {
  static void *const library = dlopen(load_vector_library(), RTLD_NOW | RTLD_LOCAL);
  return library && dlsym(library, name.c_str());
}

// Another machine cannot be asked: tests have a library that has them all.
static bool is_there(const std::string &) {
  return true;
}

HasFunction find_functions(const compile_request &request) {
  return find_machine(request) == machines[0] ? is_here : is_there;
}

} // namespace op2jit

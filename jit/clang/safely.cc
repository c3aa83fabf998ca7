#include "safely.h"

#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>

#include <pthread.h>
#include <sys/mman.h>

#include <csignal>
#include <cstring>
#include <mutex>

namespace op2jit {
namespace {

constexpr size_t guard_bytes = size_t{64} << 10, signal_bytes = size_t{64} << 10;
constexpr size_t stack_choices[] = {size_t{1} << 30, size_t{256} << 20, size_t{64} << 20};

// A stack whose pages come into being when they are touched; a guard below it.
class Stack {
public:
  Stack() {
    for (size_t bytes : stack_choices) {
      void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
      if (at == MAP_FAILED)
        continue;
      base_ = static_cast<char *>(at);
      bytes_ = bytes;
      mprotect(base_, guard_bytes, PROT_NONE);
      return;
    }
  }
  ~Stack() {
    if (base_)
      munmap(base_, bytes_);
  }
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;
  explicit operator bool() const {
    return base_;
  }
  // Where a handler runs when the stack itself is used up.
  void *signal_stack() const {
    return base_ + guard_bytes;
  }
  bool set_on(pthread_attr_t *attributes) const {
    const size_t below = guard_bytes + signal_bytes + guard_bytes;
    mprotect(base_ + guard_bytes + signal_bytes, guard_bytes, PROT_NONE);
    return pthread_attr_setstack(attributes, base_ + below, bytes_ - below) == 0;
  }

private:
  char *base_ = nullptr;
  size_t bytes_ = 0;
};

// LLVM's signal handlers are there only while something compiles; the host's come back after it.
class CrashHandlers {
public:
  CrashHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (users()++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      for (int signal : {SIGSEGV, SIGBUS})
        move_to_signal_stack(signal);
    }
  }
  ~CrashHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--users() == 0)
      llvm::CrashRecoveryContext::Disable();
  }
  CrashHandlers(const CrashHandlers &) = delete;
  CrashHandlers &operator=(const CrashHandlers &) = delete;

private:
  static void move_to_signal_stack(int signal) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0) {
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }
  static std::mutex &mutex() {
    static std::mutex m;
    return m;
  }
  static int &users() {
    static int n = 0;
    return n;
  }
};

thread_local std::string *fatal_reason;

void on_fatal_error(void *, const char *reason, bool) {
  if (fatal_reason)
    *fatal_reason = reason;
  if (llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

struct Job {
  llvm::function_ref<void()> work;
  std::string &reason;
  const Stack &stack;
  bool done = false;
};

void *run_job(void *argument) {
  Job &job = *static_cast<Job *>(argument);
  stack_t signal_stack = {};
  signal_stack.ss_sp = job.stack.signal_stack();
  signal_stack.ss_size = signal_bytes;
  sigaltstack(&signal_stack, nullptr);
  fatal_reason = &job.reason;
  {
    llvm::CrashRecoveryContext context;
    job.done = context.RunSafely(job.work);
    if (!job.done && job.reason.empty())
      job.reason = std::string("it crashed (") + strsignal(context.RetCode - 128) + ")";
  }
  fatal_reason = nullptr;
  signal_stack.ss_flags = SS_DISABLE;
  sigaltstack(&signal_stack, nullptr);
  return nullptr;
}

} // namespace

bool run_safely(llvm::function_ref<void()> work, std::string &reason) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_fatal_error);
  });
  Stack stack;
  pthread_attr_t attributes;
  pthread_t thread;
  reason.clear();
  if (!stack || pthread_attr_init(&attributes) != 0) {
    reason = "there is no memory for its stack";
    return false;
  }
  Job job{work, reason, stack};
  const CrashHandlers handlers;
  const bool started = stack.set_on(&attributes) && pthread_create(&thread, &attributes, run_job, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) {
    reason = "no thread could be started for it";
    return false;
  }
  pthread_join(thread, nullptr);
  return job.done;
}

} // namespace op2jit

#include "plugin.h"

#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

namespace op2jit {
namespace {

constexpr size_t guard_bytes = size_t{64} << 10, signal_bytes = size_t{64} << 10;
// A stack's pages come into being when they are touched.
constexpr size_t stack_choices[] = {size_t{1} << 30, size_t{256} << 20, size_t{64} << 20};

struct Job {
  llvm::function_ref<void()> work;
  bool done = false, no_memory = false;
  char reason[256] = ""; // no allocation: there may be no memory for one
};

thread_local Job *current;

void give_up(const char *reason) {
  if (current)
    snprintf(current->reason, sizeof current->reason, "%s", reason);
  if (llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

void on_fatal_error(void *, const char *reason, bool) {
  give_up(reason);
}

void on_bad_allocation(void *, const char *, bool) {
  if (current)
    current->no_memory = true;
  give_up("there is not enough memory for it");
}

// Called by `new`, which would throw, and nobody catches. Other threads than ours get what they would have without a handler.
void on_no_memory() {
  if (current)
    on_bad_allocation(nullptr, nullptr, false);
  std::set_new_handler(nullptr);
}

// LLVM's signal handlers are there only while something compiles; the host's come back after it.
class CrashHandlers {
public:
  CrashHandlers() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (users_++ == 0) {
      before_ = std::set_new_handler(on_no_memory);
      llvm::CrashRecoveryContext::Enable();
      for (int signal : {SIGSEGV, SIGBUS})
        move_to_signal_stack(signal);
    }
  }
  ~CrashHandlers() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--users_ == 0) {
      llvm::CrashRecoveryContext::Disable();
      std::set_new_handler(before_);
    }
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
  static inline std::mutex mutex_;
  static inline int users_ = 0;
  static inline std::new_handler before_ = nullptr;
};

void *run_job(void *argument) {
  Job &job = *static_cast<Job *>(argument);
  char handlers[signal_bytes]; // where they run when the rest of the stack is used up
  stack_t signal_stack = {};
  signal_stack.ss_sp = handlers;
  signal_stack.ss_size = signal_bytes;
  sigaltstack(&signal_stack, nullptr);
  current = &job;
  {
    llvm::CrashRecoveryContext context;
    job.done = context.RunSafely(job.work);
    if (!job.done && !job.reason[0])
      snprintf(job.reason, sizeof job.reason, "it crashed (%s)", strsignal(context.RetCode - 128));
  }
  current = nullptr;
  signal_stack.ss_flags = SS_DISABLE;
  sigaltstack(&signal_stack, nullptr);
  return nullptr;
}

bool start(pthread_t &thread, Job &job) {
  pthread_attr_t attributes;
  bool started = false;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  for (size_t bytes : stack_choices)
    started = started || (pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                          pthread_attr_setguardsize(&attributes, guard_bytes) == 0 &&
                          pthread_create(&thread, &attributes, run_job, &job) == 0);
  pthread_attr_destroy(&attributes);
  return started;
}

} // namespace

outcome run_safely(llvm::function_ref<void()> work, std::string &reason) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_allocation);
  });
  pthread_t thread;
  Job job{work};
  const CrashHandlers handlers;
  if (!start(thread, job)) {
    reason = "there is no memory for its stack, or no thread could be started for it";
    return outcome::no_memory;
  }
  pthread_join(thread, nullptr);
  reason = job.reason;
  return job.done ? outcome::done : job.no_memory ? outcome::no_memory : outcome::failed;
}

int run_safely(const char *who, Output &output, llvm::function_ref<bool()> work) {
  std::string reason;
  bool good = false;
  const outcome came = run_safely([&] { good = work(); }, reason);
  const bool in_text = output.has_errors(); // else the fault is not the text's
  if (came != outcome::done && !in_text)
    output.add(COMPILE_ERROR, "", 0, 0, std::string("the ") + who + " failed: " + reason);
  return came == outcome::done && good ? 0 : in_text ? 1 : came == outcome::no_memory ? 3 : 2;
}

} // namespace op2jit

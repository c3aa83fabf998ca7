#include "fiber.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes below the stack pointer that a function may use all the same. */
enum { BEYOND = 256 };

#ifdef __x86_64__
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch,@function\n"
        "fiber_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp,(%rdi)\n"
        "  mov %rsi,%rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n"
        ".size fiber_switch,.-fiber_switch\n");

enum { RETURN_AT = 6, STACK_WORDS = 8 };

const void *fiber_place(const ucontext_t *context) {
  return (const void *)context->uc_mcontext.gregs[REG_RIP];
}

/* Aligned as after a call. */
void fiber_divert(ucontext_t *context, void (*to)(void)) {
  greg_t *registers = context->uc_mcontext.gregs;
  registers[REG_RSP] = ((registers[REG_RSP] - BEYOND) & ~15LL) - 8;
  registers[REG_RIP] = (greg_t)(uintptr_t)to;
}
#else
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch,%function\n"
        "fiber_switch:\n"
        "  stp x19, x20, [sp, #-160]!\n"
        "  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n  stp x27, x28, "
        "[sp, #64]\n"
        "  stp d8, d9, [sp, #80]\n  stp d10, d11, [sp, #96]\n  stp d12, d13, [sp, #112]\n  stp d14, d15, "
        "[sp, #128]\n"
        "  stp x29, x30, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n  ldp x27, x28, "
        "[sp, #64]\n"
        "  ldp d8, d9, [sp, #80]\n  ldp d10, d11, [sp, #96]\n  ldp d12, d13, [sp, #112]\n  ldp d14, d15, "
        "[sp, #128]\n"
        "  ldp x29, x30, [sp, #144]\n"
        "  ldp x19, x20, [sp], #160\n"
        "  ret\n"
        ".size fiber_switch,.-fiber_switch\n");

enum { RETURN_AT = 19, STACK_WORDS = 20 };

const void *fiber_place(const ucontext_t *context) {
  return (const void *)(uintptr_t)context->uc_mcontext.pc;
}

void fiber_divert(ucontext_t *context, void (*to)(void)) {
  context->uc_mcontext.sp = (context->uc_mcontext.sp - BEYOND) & ~15ULL;
  context->uc_mcontext.pc = (unsigned long long)(uintptr_t)to;
}
#endif

void *fiber_begin(char *top, void (*main)(void)) {
  void **sp = (void **)(void *)(top - 64) - STACK_WORDS;
  memset(sp, 0, STACK_WORDS * sizeof *sp);
  sp[RETURN_AT] = (void *)(uintptr_t)main;
  return sp;
}

#include "jit/share.h"

#include <string.h>

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

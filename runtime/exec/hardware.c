#include "exec/hardware.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

static const struct row {
  const char *name;
  uint32_t type;
  uint64_t what;
} rows[HARDWARE_MOST] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

/* -1: errno says why. */
static int open_one(const struct row *row) {
  struct perf_event_attr attr = {.type = row->type,
                                 .size = sizeof attr,
                                 .config = row->what,
                                 .inherit = 1, /* by threads that are started later */
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1,
                                 .read_format =
                                     PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int paranoid(void) {
  int level = -1;
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  if (file) {
    if (fscanf(file, "%d", &level) != 1)
      level = -1;
    fclose(file);
  }
  return level;
}

static void tell_refused(const struct row *row, int why, struct text *out) {
  const int most = 2; /* for what a process counts of itself */
  text_addf(out, "OP2_COUNTERS: %s cannot be counted: ", row->name);
  if (why == ENOENT || why == ENODEV || why == EOPNOTSUPP)
    text_add(out, "this machine has no such counter, or a virtual machine hides it");
  else if ((why == EACCES || why == EPERM) && paranoid() > most)
    text_addf(out, "/proc/sys/kernel/perf_event_paranoid is %d; with %d or less it can be", paranoid(), most);
  else if (why == EACCES || why == EPERM || why == ENOSYS)
    text_addf(out, "the system does not allow it (%s); containers often forbid perf_event_open",
              strerror(why));
  else
    text_add(out, strerror(why));
  text_add_char(out, '\n');
}

static int find_row(const char *word, size_t length, struct error *err) {
  const char *names[HARDWARE_MOST];
  char whole[32];
  struct text wrong = {0};
  for (int i = 0; i < HARDWARE_MOST; i++) {
    names[i] = rows[i].name;
    if (strlen(names[i]) == length && memcmp(word, names[i], length) == 0)
      return i;
  }
  snprintf(whole, sizeof whole, "%.*s", (int)(length < sizeof whole ? length : sizeof whole - 1), word);
  nearest_tell("counter", whole, names, HARDWARE_MOST, &wrong);
  error_set(err, OP_ERR_ENV,
            "OP2_COUNTERS: %s; expected on, or some of cycles, instructions, cache-misses, branch-misses, "
            "page-faults, task-clock with ',' between them",
            text_str(&wrong));
  text_free(&wrong);
  return -1;
}

static void open_row(struct hardware *h, const struct row *row, struct text *refused) {
  for (int i = 0; i < h->count; i++)
    if (h->names[i] == row->name)
      return;
  const int file = open_one(row);
  if (file < 0) {
    tell_refused(row, errno, refused);
    return;
  }
  h->names[h->count] = row->name;
  h->files[h->count++] = file;
}

int hardware_open(struct hardware *h, const char *wanted, struct text *refused, struct error *err) {
  *h = (struct hardware){0};
  if (strcmp(wanted, "on") == 0)
    for (int i = 0; i < HARDWARE_MOST; i++)
      open_row(h, &rows[i], refused);
  else
    for (const char *p = wanted; *p;) {
      const size_t length = strcspn(p, ",");
      const int row = length ? find_row(p, length, err) : -1;
      if (length && row < 0)
        return err->code;
      if (length)
        open_row(h, &rows[row], refused);
      p += length + (p[length] == ',');
    }
  return OP_OK;
}

void hardware_close(struct hardware *h) {
  for (int i = 0; i < h->count; i++)
    close(h->files[i]);
  h->count = 0;
}

/* A counter that had to share the processor's registers with others counted for a part of the time only. */
void hardware_read(const struct hardware *h, double values[HARDWARE_MOST]) {
  for (int i = 0; i < h->count; i++) {
    uint64_t got[3]; /* the count, and for how long it was wanted and did run */
    values[i] = 0;
    if (read(h->files[i], got, sizeof got) == (ssize_t)sizeof got && got[2] > 0)
      values[i] = (double)got[0] * ((double)got[1] / (double)got[2]);
  }
}

void hardware_add(const struct hardware *h, const double before[HARDWARE_MOST], double share,
                  double sums[HARDWARE_MOST]) {
  double now[HARDWARE_MOST];
  if (!h)
    return;
  hardware_read(h, now);
  for (int i = 0; i < h->count; i++)
    sums[i] += share * (now[i] - before[i]);
}

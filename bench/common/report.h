/* What samples say: the checks of their answer, and the times of `--compare`. */
#ifndef BENCH_COMMON_REPORT_H
#define BENCH_COMMON_REPORT_H

/* The checks of one program, of which only the first rank's count. Start with all zeros. */
struct check {
  int done, failed;
};

/* `error`, a size, must be at most `limit` (a NaN fails, and so does what is below 0). Prints one line. */
void check_at_most(struct check *check, const char *what, double error, double limit);
/* `value` must lie in low .. high. Prints one line. */
void check_between(struct check *check, const char *what, double value, double low, double high);
/* The two must be the same. Prints one line. */
void check_equal(struct check *check, const char *what, long long value, long long expected);
/* The tables of times if they are still held; PASSED or FAILED, and the status for main to return: 0 only if
 * something was checked and held, and the standard output took what was said. Ranks but the first leave it to
 * that. */
int check_end(const struct check *check, const char *sample);

/* |a - b| / max(|a|, |b|), 0 if both are 0. */
double relative_difference(double a, double b);
/* |a - b| / max(|a|, |b|, least): what is smaller than `least`, where rounding shows, counts as that much. */
double difference_above(double least, double a, double b);
/* The larger of the two; a NaN stays, which fmax would drop. */
double worse_of(double worst, double error);
/* Largest |a - b|; a NaN on either side gives infinity. */
double largest_difference(const double *a, const double *b, long long count);

/* Seconds since some fixed time, or of all threads of this process if TURNS_CLOCK is "cpu". */
double clock_seconds(void);
/* Sorts `times` and returns the middle one. */
double median(double *times, int count);

/* The tables of `--compare`, held until compare_print, so that checks made between their rows stand before them.
 * `seconds` are of one repetition, which must move `bytes` at least. The last column is how much longer each takes than
 * the first row, whose time is kept in *base (start with 0). */
void compare_header(const char *what);
void compare_row(const char *name, double seconds, double bytes, double *base);
/* Prints what is held; says so if this program waited for its CPU for a large part of its time. */
void compare_print(void);

#endif

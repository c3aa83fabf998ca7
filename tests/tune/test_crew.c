/* How many threads a loop over few elements gets: the guess first, then what was faster, and now and then another look. */
#include "../unit.h"

#include <limits.h>

#include "exec/team.h"
#include "loop/crew.h"

enum { MANY = 4 };

struct play {
  struct crew crew;
  double one, many; /* seconds of a run */
  long runs, slow;  /* of these on what takes longer */
};

static void play(struct play *p, bool guess_one, long runs) {
  for (long i = 0; i < runs; i++) {
    if (crew_asks(&p->crew))
      crew_ask(&p->crew, MANY, guess_one);
    const int threads = crew_threads(&p->crew);
    assert_true(threads == 1 || threads == MANY);
    const double seconds = threads == 1 ? p->one : p->many;
    p->runs++;
    p->slow += seconds > p->one || seconds > p->many;
    crew_ran(&p->crew, seconds);
  }
}

TEST(begin_with_the_guess) {
  for (int one = 0; one < 2; one++) {
    struct crew crew = {0};
    assert_true(crew_asks(&crew));
    crew_ask(&crew, MANY, one);
    assert_false(crew_asks(&crew));
    assert_int_equal(crew_threads(&crew), one ? 1 : MANY);
  }
}

/* Whatever was guessed, after some runs the faster one has all. */
TEST(end_with_what_is_faster) {
  static const struct {
    double one, many;
    int threads;
  } rows[] = {{2e-6, 34e-6, 1}, {3e-6, 4e-6, 1}, {30e-6, 10e-6, MANY}, {30e-6, 20e-6, MANY}, {1e-6, 2e-6, 1}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (int guess = 0; guess < 2; guess++) {
      struct play p = {.one = rows[r].one, .many = rows[r].many};
      play(&p, guess, 20);
      assert_int_equal(crew_threads(&p.crew), rows[r].threads);
      assert_int_equal(p.crew.comparisons, 1);
    }
}

/* The crew that runs goes on if the other is about as fast. */
TEST(keep_to_what_is_no_slower) {
  for (int guess = 0; guess < 2; guess++) {
    struct play p = {.one = 1e-6, .many = guess ? 0.95e-6 : 1.05e-6};
    play(&p, guess, 1000);
    assert_true(p.crew.comparisons > 1);
    assert_int_equal(crew_threads(&p.crew), guess ? 1 : MANY);
  }
}

/* A hopeless crew has few runs, and others are ever more seldom. */
TEST(spend_little) {
  struct play hopeless = {.one = 2e-6, .many = 34e-6};
  play(&hopeless, true, 20);
  assert_true(hopeless.slow <= 2);
  struct play p = {.one = 3e-6, .many = 4e-6};
  play(&p, true, 1000000);
  assert_true(p.crew.comparisons >= 5);
  assert_true(p.slow <= CREW_RUNS / 2 * p.crew.comparisons);
  assert_true(p.crew.comparisons <= 12);
}

/* A run of a large loop on one of many threads may take as long as many: it is made when that is little, and once. */
TEST(wait_until_a_look_costs_little) {
  struct play p = {.one = 40e-3, .many = 10e-3};
  play(&p, false, 390);
  assert_int_equal(p.slow, 0);
  play(&p, false, 50);
  assert_int_equal(p.slow, 1);
  assert_int_equal(p.crew.comparisons, 1);
  assert_int_equal(crew_threads(&p.crew), MANY);
}

/* Others take the CPUs, or give them back. */
TEST(follow_the_machine) {
  struct play p = {.one = 30e-6, .many = 10e-6};
  play(&p, false, 100);
  assert_int_equal(crew_threads(&p.crew), MANY);
  p.many = 500e-6;
  play(&p, false, 1000);
  assert_int_equal(crew_threads(&p.crew), 1);
  p.many = 10e-6;
  play(&p, false, 10000);
  assert_int_equal(crew_threads(&p.crew), MANY);
}

/* Where nothing is to be decided nobody is asked again, and times that are none change nothing. */
TEST(leave_others_alone) {
  struct crew crew = {0};
  crew_ask(&crew, 0, false);
  for (int i = 0; i < 100; i++) {
    assert_false(crew_asks(&crew));
    assert_int_equal(crew_threads(&crew), 0);
    crew_ran(&crew, 1e-6);
  }
  crew = (struct crew){0};
  crew_ask(&crew, MANY, true);
  for (int i = 0; i < 100; i++)
    crew_ran(&crew, i % 2 ? 0 : -1);
  assert_int_equal(crew.runs, 0);
}

/* The model of the team: its cost counts for each phase, and more threads are for longer work. */
TEST(know_what_a_team_costs) {
  struct team *team = NULL;
  struct error err = {0};
  double takes = 0;
  assert_int_equal(team_open(&team, TEAM_PTHREAD, MANY, &err), OP_OK);
  assert_int_equal(team_best(team, 1e3, 1, MANY, &takes), MANY);
  assert_true(takes > 1e3 / MANY && takes < 1e3 / 2);
  assert_int_equal(team_best(team, 1e3, 1, 3, &takes), 3);
  assert_int_equal(team_best(team, 1e3, 1, 2, &takes), 2);
  /* No work: the run is what it costs, for each phase again. */
  double once = 0, ten = 0;
  team_best(team, 0, 1, 2, &once);
  team_best(team, 0, 10, 2, &ten);
  assert_true(once > 0 && once < 1);
  assert_true(ten > 9.9 * once && ten < 10.1 * once);
  team_close(team);
  error_free(&err);
}

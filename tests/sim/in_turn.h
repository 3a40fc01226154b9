/*
 * in_turn - runs numbered pieces of work in several threads, which start them in order.
 */
#ifndef TESTS_SIM_IN_TURN_H
#define TESTS_SIM_IN_TURN_H

#include <stddef.h>

#define IN_TURN_MAX_JOBS 64

/* A negative errno ends all work. */
typedef int in_turn_fn(void *arg, size_t number);

/* Calls do_one for 0 .. count - 1 in `jobs` threads, including this one; in fewer if no
 * more threads can be started. Returns 0, or the first error. */
int in_turn(size_t count, size_t jobs, in_turn_fn *do_one, void *arg);

#endif

/*
 * in_turn - numbered pieces of work, which threads take one after the other.
 */
#ifndef TESTS_SIM_IN_TURN_H
#define TESTS_SIM_IN_TURN_H

#include <stddef.h>

#define IN_TURN_MAX_JOBS 64

/* A negative errno ends it all. */
typedef int in_turn_fn(void *arg, size_t number);

/* Calls do_one for 0 .. count - 1, by so many threads, this one included; fewer where
 * no more are to be had. Returns 0, or the first error. */
int in_turn(size_t count, size_t jobs, in_turn_fn *do_one, void *arg);

#endif

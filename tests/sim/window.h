/*
 * window - sums flows over some seconds, by path.
 */
#ifndef TESTS_SIM_WINDOW_H
#define TESTS_SIM_WINDOW_H

#include "tests/sim/windowed.h"

int seen_window_new(struct window **ret);
void seen_window_free(struct window *window);
int seen_window_add(struct window *window, const struct seen *seen); /* -ENOMEM */
/* Valid until the next call. -ENOMEM. */
int seen_window_passages(
    struct window *window, const struct passage **ret, size_t *ret_count);
void seen_window_clear(struct window *window);

#endif

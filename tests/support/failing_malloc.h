/*
 * failing_malloc - makes the n-th allocation fail, to test the handling of the error.
 *
 * A program that is linked with this file calls it instead of the allocator.
 */
#ifndef SUPPORT_FAILING_MALLOC_H
#define SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>

/* The n-th allocation from now on (from 1) fails, once. 0: none. */
void failing_malloc_arm(unsigned n);
/* True: the armed failure did not occur yet. Disarms. */
bool failing_malloc_disarm(void);

#endif

/*
 * failing_new - makes the n-th operator new throw, to see where it ends up.
 *
 * Linking it replaces the C++ allocator of the whole test program.
 */
#ifndef SUPPORT_FAILING_NEW_H
#define SUPPORT_FAILING_NEW_H

#include <stdbool.h>

/* The n-th from now on, from 1, fails, once. 0: none. */
void failing_new_arm(unsigned n);
/* Whether the armed failure is still to come. Disarms. */
bool failing_new_disarm(void);

#endif

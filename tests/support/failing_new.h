/*
 * failing_new - makes the n-th operator new throw, to test the handling of the error.
 *
 * Linking it replaces the C++ allocator of the whole test program.
 */
#ifndef SUPPORT_FAILING_NEW_H
#define SUPPORT_FAILING_NEW_H

#include <stdbool.h>

/* The n-th operator new from now on (from 1) throws, once. 0: none. */
void failing_new_arm(unsigned n);
/* True: the armed failure did not occur yet. Disarms. */
bool failing_new_disarm(void);

#endif

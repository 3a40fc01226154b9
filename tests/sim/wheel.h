/*
 * wheel - a timer wheel: it returns the numbers that are due in a slice of time, the
 * earliest first; of those due at the same time, the lowest first. Pure.
 */
#ifndef TESTS_SIM_WHEEL_H
#define TESTS_SIM_WHEEL_H

#include <stddef.h>
#include <stdint.h>

#define WHEEL_NONE UINT32_MAX

struct wheel;

int wheel_new(int64_t slice_ns, struct wheel **ret); /* -ENOMEM */
void wheel_free(struct wheel *wheel);

/* An item that is due beyond the end of the ring is returned too early, and must be put
 * again. -ENOMEM. */
int wheel_put(struct wheel *wheel, uint32_t item, int64_t due_ns);
void wheel_remove(struct wheel *wheel, uint32_t item);
/* Removes the earliest item of the slice that ends now. *item: the item, or WHEEL_NONE.
 * Items that are put into this slice meanwhile are returned, too. -ENOMEM. */
int wheel_take(struct wheel *wheel, int64_t end_ns, uint32_t *item);

#endif

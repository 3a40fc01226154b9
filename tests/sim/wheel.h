/*
 * wheel - what is due in which slice of time: numbers, in lists, in a ring. Pure.
 *
 * The order within a slice depends on nothing but the order of the calls.
 */
#ifndef TESTS_SIM_WHEEL_H
#define TESTS_SIM_WHEEL_H

#include <stddef.h>
#include <stdint.h>

#define WHEEL_NONE UINT32_MAX

struct wheel;

int wheel_new(int64_t slice_ns, struct wheel **ret); /* -ENOMEM */
void wheel_free(struct wheel *wheel);

/* Beyond the ring's end it comes early, and is to be put again. -ENOMEM. */
int wheel_put(struct wheel *wheel, uint32_t item, int64_t due_ns);
void wheel_remove(struct wheel *wheel, uint32_t item);
/* One of the slice that ends here, or WHEEL_NONE; it is out of the wheel then. What is
 * put into this slice meanwhile comes, too. */
uint32_t wheel_take(struct wheel *wheel, int64_t end_ns);

#endif

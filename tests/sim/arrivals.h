/*
 * arrivals - probes that have not arrived at their responder yet. Pure.
 */
#ifndef TESTS_SIM_ARRIVALS_H
#define TESTS_SIM_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct arrival {
	int64_t due_ns;
	uint32_t pair, class, lane;
	/* If true: the data with which the agent reports the probe when it has arrived.
	 */
	bool is_awaited;
	int64_t sent_ns, rtt_ns, stood_ns;
	struct wire_result result;
};

struct arrivals { /* zeroed at first */
	struct arrival *heap;
	size_t count, room;
};

int arrivals_put(
    struct arrivals *arrivals, const struct arrival *arrival); /* -ENOMEM */
/* Takes the next probe that arrives until that time. False: there is none. */
bool arrivals_take(struct arrivals *arrivals, int64_t until_ns, struct arrival *ret);
void arrivals_clear(struct arrivals *arrivals);

#endif

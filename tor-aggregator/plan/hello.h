/*
 * hello - sends the hello to peers that this aggregator dials: controllers, analyzers,
 * and the other aggregator of a ToR.
 */
#ifndef TOR_AGGREGATOR_PLAN_HELLO_H
#define TOR_AGGREGATOR_PLAN_HELLO_H

#include <stddef.h>
#include <stdint.h>

struct rm_link;
struct rm_request;
struct wire_tor_state;
struct wire_writer;

struct hello { /* the identity of this aggregator; all pointers are borrowed */
	const char *name, *region;
	uint64_t incarnation;
	const char *const *tors;
	size_t tor_count;            /* at most WIRE_MAX_TORS */
	uint16_t summary_interval_s; /* for analyzers; else 0 */
};

/* Checks that the peer's certificate allows the role in request; call it before
 * hello_send. If not, returns -EACCES, and logs that `who` was expected, such as "an
 * analyzer of this region". */
int hello_check(
    const struct rm_link *link, const struct rm_request *request, const char *who);

/* held[i]: version of the plan that this aggregator has for hello->tors[i]; NULL: the
 * hello is sent without versions. Returns 0 or a negative errno. */
int hello_send(struct rm_link *link, const struct hello *hello,
    const struct wire_tor_state *held, struct wire_writer *writer);

#endif

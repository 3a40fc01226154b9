/*
 * hello - the hello to peers that this aggregator dials: controllers, analyzers, the
 * other aggregator of a ToR.
 */
#ifndef TOR_AGGREGATOR_PLAN_HELLO_H
#define TOR_AGGREGATOR_PLAN_HELLO_H

#include <stddef.h>
#include <stdint.h>

struct rm_link;
struct rm_request;
struct wire_tor_state;
struct wire_writer;

struct hello { /* the identity of this aggregator; all borrowed */
	const char *name, *region;
	uint64_t incarnation;
	const char *const *tors;
	size_t tor_count;            /* at most WIRE_MAX_TORS */
	uint16_t summary_interval_s; /* for analyzers; else 0 */
};

/* Call it before the hello: checks that the peer's certificate allows the request. If
 * not, logs that `who` ("an analyzer of this region") was expected: -EACCES. */
int hello_check(
    const struct rm_link *link, const struct rm_request *request, const char *who);

/* held: versions held of each ToR, in their order; NULL: there are none to report. */
int hello_send(struct rm_link *link, const struct hello *hello,
    const struct wire_tor_state *held, struct wire_writer *writer);

#endif

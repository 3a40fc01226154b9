/*
 * lookup - looks up the addresses of an endpoint's name in threads.
 *
 * Each look-up has its own thread, not the daemon's worker: a name server that does not
 * answer takes half a minute, and must delay neither files nor other names. A look-up
 * that is given up continues in its thread and its result is dropped, so it does not
 * delay the end of the daemon.
 */
#ifndef RACKMESH_NET_LOOKUP_H
#define RACKMESH_NET_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#define RM_LOOKUPS_MAX 16 /* threads at once, in the whole process */
#define RM_LOOKUPS_BUSY \
	"too many names are being looked up: the name server does not answer"

struct rm_address;
struct rm_endpoint;
struct rm_lookup;
struct rm_loop;
struct rm_metrics;

struct rm_lookup_answer { /* borrowed for the call */
	int r;            /* 0, or as rm_endpoint_resolve */
	const struct rm_address *addresses;
	size_t count;
	const char *reason; /* the resolver's error; "": none */
};

/* done: once, from the loop; the lookup is freed when it returns, so the owner forgets
 * it there. most: RM_LOOKUPS_MAX, or fewer for a name that must leave some to others.
 * -EBUSY: so many run already, RM_LOOKUPS_BUSY; those that were given up count. */
int rm_lookup_new(struct rm_loop *loop, const struct rm_endpoint *endpoint,
    unsigned most, void (*done)(const struct rm_lookup_answer *answer, void *arg),
    void *arg, struct rm_lookup **ret);
/* Gives up the look-up: done is not called. Not from inside done; NULL is fine. */
void rm_lookup_free(struct rm_lookup *lookup);

struct rm_lookup_counts {
	uint64_t started, failed; /* failed: without an address, also because all
				     threads were in use */
};

/* Counts of the whole process, written on the loop's thread. */
const struct rm_lookup_counts *rm_lookup_counts(void);
int rm_lookup_metrics(struct rm_metrics *metrics);

#endif

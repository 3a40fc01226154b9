/*
 * lookup - looks up the addresses of an endpoint's name in threads.
 *
 * Each look-up has its own thread, not the daemon's worker: a name server that does not
 * answer takes half a minute, and must delay neither files nor other names. If the
 * owner gives up a look-up, its thread continues and its result is dropped: so it does
 * not delay the end of the daemon.
 */
#ifndef RACKMESH_NET_LOOKUP_H
#define RACKMESH_NET_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

/* maximum number of threads at a time, in the whole process */
#define RM_LOOKUPS_MAX 16
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
	const char *reason; /* text of the resolver's error; "": no error */
};

/* done is called once, from the loop; the lookup is freed when done returns, so its
 * owner must not free it afterwards. most: RM_LOOKUPS_MAX, or fewer, to leave some
 * threads to other names. -EBUSY, with the text RM_LOOKUPS_BUSY: that many threads are
 * running, including those of look-ups that were given up. */
int rm_lookup_new(struct rm_loop *loop, const struct rm_endpoint *endpoint,
    unsigned most, void (*done)(const struct rm_lookup_answer *answer, void *arg),
    void *arg, struct rm_lookup **ret);
/* Gives up the look-up: done is not called. Not from inside done; NULL is fine. */
void rm_lookup_free(struct rm_lookup *lookup);

struct rm_lookup_counts {
	/* failed: look-ups that gave no address, also if no thread was free */
	uint64_t started, failed;
};

/* Counts of the whole process, written on the loop's thread. */
const struct rm_lookup_counts *rm_lookup_counts(void);
int rm_lookup_metrics(struct rm_metrics *metrics);

#endif

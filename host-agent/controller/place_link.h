/*
 * place_link - asks the region's controllers for the ToRs and aggregators of this host:
 * at the start, every five minutes, and more often while there is no answer, or no
 * aggregator is connected.
 *
 * Each request has a connection of its own to the leading controller, which is closed
 * after the answer.
 */
#ifndef HOST_AGENT_CONTROLLER_PLACE_LINK_H
#define HOST_AGENT_CONTROLLER_PLACE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct place;
struct place_link;
struct rm_endpoint;
struct rm_loop;
struct rm_tls;

struct place_link_options {
	const struct rm_endpoint
	    *controllers; /* these are copied; there must be at least one */
	size_t controller_count;
	const char *host, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
	/* Takes ownership of place. It is not called from inside the functions below.
	 */
	void (*on_place)(struct place *place, void *arg);
	void *arg;
};

struct place_link_counts {
	uint64_t asked;   /* questions sent */
	uint64_t placed;  /* answers with a place */
	uint64_t unknown; /* answers which say that this host has no ToR */
	uint64_t refused; /* answers that are malformed */
};

int place_link_new(struct rm_loop *loop, const struct place_link_options *options,
    struct place_link **ret);
void place_link_free(struct place_link *link); /* NULL is allowed */

/* Call it often. alone: no aggregator has been connected for a while. */
void place_link_tick(struct place_link *link, bool alone, rm_mono_t now);

const struct place_link_counts *place_link_counts(const struct place_link *link);

#endif

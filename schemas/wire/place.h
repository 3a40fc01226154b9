/*
 * place - the ToRs and aggregators of a host: an agent asks a controller, which answers
 * from its topology.
 */
#ifndef SCHEMAS_WIRE_PLACE_H
#define SCHEMAS_WIRE_PLACE_H

#include "schemas/wire/message.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wire_place {
	uint64_t token; /* the answer has the same token */
	const char *host;
};

int wire_write_place(
    struct wire_writer *writer, const struct wire_place *place, struct wire_bytes *out);
int wire_open_place(struct wire_place *view, const uint8_t *data, size_t len);

/* the ToR at the other end of the cables of some RNICs of the host */
struct wire_cable {
	/* a pattern, see rm_name_matches; "": all RNICs that no other pattern
	 * matches */
	const char *device;
	const char *tor;
};

struct wire_tor_aggregator {
	const char *tor;
	const char *address; /* name:port or address:port at which the aggregator
				listens for agents */
};

struct wire_place_answer {
	uint64_t token;
	const char *error; /* why there are no cables; "": there are cables */
	/* cables and aggregators are NULL in an opened message */
	const struct wire_cable *cables;
	size_t cable_count; /* at most WIRE_MAX_CABLES */
	/* aggregators of these ToRs, in the same order */
	const struct wire_tor_aggregator *aggregators;
	size_t aggregator_count; /* at most WIRE_MAX_PLACE_AGGREGATORS */
	const void *opaque;      /* private; set in an opened message */
};

int wire_write_placed(struct wire_writer *writer,
    const struct wire_place_answer *answer, struct wire_bytes *out);
int wire_open_placed(struct wire_place_answer *view, const uint8_t *data, size_t len);
void wire_placed_cable(
    const struct wire_place_answer *view, size_t i, struct wire_cable *out);
void wire_placed_aggregator(
    const struct wire_place_answer *view, size_t i, struct wire_tor_aggregator *out);

#ifdef __cplusplus
}
#endif

#endif

/*
 * place - where a host belongs: an agent asks a controller, which answers from its
 * topology.
 */
#ifndef SCHEMAS_WIRE_PLACE_H
#define SCHEMAS_WIRE_PLACE_H

#include "schemas/wire/message.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wire_place {
	uint64_t token; /* comes back with the answer */
	const char *host;
};

int wire_write_place(
    struct wire_writer *writer, const struct wire_place *place, struct wire_bytes *out);
int wire_open_place(struct wire_place *view, const uint8_t *data, size_t len);

struct wire_cable {         /* where the cables of some of the host's RNICs end */
	const char *device; /* a pattern, see rm_name_matches; "": all not named */
	const char *tor;
};

struct wire_tor_aggregator {
	const char *tor;
	const char
	    *address; /* name:port or address:port; it listens there for agents */
};

struct wire_place_answer {
	uint64_t token;
	const char *error;               /* "", or why there are no cables */
	const struct wire_cable *cables; /* of an opened one NULL, as the next */
	size_t cable_count;              /* at most WIRE_MAX_CABLES */
	const struct wire_tor_aggregator *aggregators; /* of those ToRs, in order */
	size_t aggregator_count; /* at most WIRE_MAX_PLACE_AGGREGATORS */
	const void *opaque;      /* of an opened one */
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

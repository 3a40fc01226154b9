/*
 * place - where this host belongs, as a controller answered: which ToR the cable of
 * each RNIC ends in, and where the aggregators of those ToRs listen. Pure, but for its
 * file.
 *
 * The answer is kept as it came, so that a host starts with every controller gone.
 */
#ifndef HOST_AGENT_CONTROLLER_PLACE_H
#define HOST_AGENT_CONTROLLER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct place;

/* Copies. -EBADMSG: malformed, or of names, patterns and addresses that are none.
 * -ENOENT: the answer is an error, and no place. */
int place_new(const uint8_t *data, size_t len, struct place **ret);
void place_free(struct place *place); /* NULL is fine */

/* They say the same; NULL equals NULL alone. */
bool place_equal(const struct place *a, const struct place *b);

/* The ToRs of that device, borrowed; 0: nobody says. Rows that name the device, or its
 * network device ("": none), count, and only without one those that name none. */
size_t place_tors(const struct place *place, const char *device, const char *netdev,
    const char *tors[WIRE_MAX_ATTACHMENTS]);

size_t place_aggregators(const struct place *place);
void place_aggregator(
    const struct place *place, size_t i, struct wire_tor_aggregator *ret);

/* Both block. -ENOENT: none was ever kept. */
int place_load(const char *folder, struct place **ret);
int place_save(const char *folder, const struct place *place);

#endif

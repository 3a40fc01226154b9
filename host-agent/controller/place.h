/*
 * place - the ToRs and aggregators of this host, from a controller's answer: the ToR at
 * the other end of each RNIC's cable, and the addresses of the aggregators of those
 * ToRs. Pure, except for its file.
 *
 * The answer is saved as received, so that a host can start without any controller.
 */
#ifndef HOST_AGENT_CONTROLLER_PLACE_H
#define HOST_AGENT_CONTROLLER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct place;

/* Copies data. -EBADMSG: malformed, or with invalid names, patterns or addresses.
 * -ENOENT: the answer is an error message. */
int place_new(const uint8_t *data, size_t len, struct place **ret);
void place_free(struct place *place); /* NULL is allowed */

/* True: both are equal; NULL equals only NULL. */
bool place_equal(const struct place *a, const struct place *b);

/* Returns the ToRs of that device, borrowed; 0: not known. Rows that name the device,
 * or its network device ("": none), are used. If there is no such row, rows without a
 * device are used. */
size_t place_tors(const struct place *place, const char *device, const char *netdev,
    const char *tors[WIRE_MAX_ATTACHMENTS]);

size_t place_aggregators(const struct place *place);
void place_aggregator(
    const struct place *place, size_t i, struct wire_tor_aggregator *ret);

/* Both functions block. -ENOENT: no answer was saved. */
int place_load(const char *folder, struct place **ret);
int place_save(const char *folder, const struct place *place);

#endif

/*
 * inside_rows - counts of sent and lost probes inside a rack, for each class. Pure.
 *
 * These probes cross the rack's ToR and no other switch. So their losses show whether
 * the ToR loses packets, even if the ToR and its uplinks are on all paths to other
 * racks. Losses of RNICs must not count against the ToR: flows of members that are no
 * witnesses are left out, and flows of the member that lost most in earlier seconds, of
 * the other members on its host, and, if four other members remain, of the next such
 * host. Earlier seconds decide, because the member that loses most in this second
 * has by chance more than its share of the losses of a ToR that loses a few packets. If
 * there were no losses in earlier seconds, a second with losses does not count.
 *
 * With two members, on two hosts, no flow would be left. Their flows count if both
 * members lose a similar share of the probes that leave the rack, and not much less
 * inside it: then no single RNIC is the cause.
 */
#ifndef TOR_AGGREGATOR_PATHS_INSIDE_ROWS_H
#define TOR_AGGREGATOR_PATHS_INSIDE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "schemas/wire.h"

struct flow_second;
struct inside_rows;
struct roster;

/* maximum number of classes; probes of further classes are left out */
#define INSIDE_ROWS_CLASSES 4

int inside_rows_new(struct inside_rows **ret); /* -ENOMEM */
void inside_rows_free(struct inside_rows *rows);

/* Adds one second: its flows between members, and its flows that left the rack, some of
 * which may be left_out. Call it for each second, in order. witnesses: by member. */
void inside_rows_add(struct inside_rows *rows, const struct flow_second *second,
    const bool *witnesses, const struct roster *roster);

/* Returns the number of rows since the last call. *ret is valid until the next call of
 * inside_rows_add. dst_tor and path of the rows are "", their losses are lost_unknown,
 * and they have no samples. */
size_t inside_rows_take(struct inside_rows *rows, const struct wire_path_row **ret);

/* Deletes all sums. Call it when members were renumbered. */
void inside_rows_forget(struct inside_rows *rows);

#endif

/*
 * nexus - the requests to a Cisco Nexus by its NX-API, and the parser of its answers.
 * Pure.
 *
 * One reading is one request with all commands, from time to time also those for
 * neighbours (LLDP) and optical modules: without these, the last ones stay. The answer
 * may be large, so it is handled in two steps: nexus_parse() cuts the values out and
 * sorts them, and may run on a worker; nexus_list() joins them with the last reading,
 * on the loop, in time linear in the objects of both.
 *
 * The interfaces are found in the answers, not configured: Ethernet ports and the
 * internal ones of the fabric (ii). Others (VLANs, port-channels, mgmt0) count packets
 * that ports have counted already, or not those of the fabric.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_H

#include <stddef.h>

#include "rackmesh/core/error.h"

#define NEXUS_MAX_BYTES (8 * 1024 * 1024) /* of an answer */
#define NEXUS_MAX_NODES 400000            /* of its JSON: some 60 MB at most */
#define NEXUS_MAX_VALUES 131072           /* of one reading; more are refused */
#define NEXUS_CONTROL_QUEUE 8             /* the groups of QoS that have no number */
#define NEXUS_SPAN_QUEUE 9

struct nexus_values;
struct switch_counts;
struct switch_list;

/* Requested besides counters. */
#define NEXUS_NEIGHBORS 1u
#define NEXUS_OPTICS 2u
#define NEXUS_QUESTIONS 4 /* one for each combination of these */

/* The body of the request, JSON; the caller frees it. also: bits of NEXUS_*. NULL when
 * out of memory. */
char *nexus_question(unsigned also);

/* also: as requested. -EPROTO: the text is not an answer to that; see error.
 * -ENOMEM. */
int nexus_parse(const char *text, size_t len, unsigned also, struct nexus_values **ret,
    struct rm_error *error);
void nexus_values_free(struct nexus_values *values); /* NULL is allowed */
/* Bits of NEXUS_*: requested besides counters, and answered. */
unsigned nexus_values_also(const struct nexus_values *values);

/* before: the last reading, or NULL. counts: added to; without the resets if it
 * fails. -EPROTO: there is no port; -ENOMEM. */
int nexus_list(const struct nexus_values *values, const struct switch_list *before,
    struct switch_counts *counts, struct switch_list **ret, struct rm_error *error);

#endif

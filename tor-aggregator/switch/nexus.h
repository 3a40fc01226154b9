/*
 * nexus - reads a Cisco Nexus by its NX-API: what to ask, and what the answer means.
 * Pure.
 *
 * One reading is one request with all commands, now and then also for the neighbours
 * (LLDP) and the optical modules: without that they stay what they were. Its answer is
 * taken in two steps, since it may be large: nexus_parse() cuts the values out of it,
 * sorts them, and may run on a worker; nexus_list() joins them with the last reading,
 * on the loop, in a time linear in the objects of both.
 *
 * Interfaces are found in the answers, not configured: Ethernet ports and the internal
 * ones of the fabric (ii). Others (VLANs, port-channels, mgmt0) count what ports have
 * counted already, or not what the fabric carries.
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

/* What a reading asks for besides counters. */
#define NEXUS_NEIGHBORS 1u
#define NEXUS_OPTICS 2u
#define NEXUS_QUESTIONS 4 /* one for each of these sets */

/* The body of the request, JSON; the caller frees it. also: bits of NEXUS_*. NULL when
 * out of memory. */
char *nexus_question(unsigned also);

/* also: as was asked for. -EPROTO: it is no answer to that; error says it.
 * -ENOMEM. */
int nexus_parse(const char *text, size_t len, unsigned also, struct nexus_values **ret,
    struct rm_error *error);
void nexus_values_free(struct nexus_values *values); /* NULL is fine */
/* Bits of NEXUS_*: what was asked for besides, and was answered. */
unsigned nexus_values_also(const struct nexus_values *values);

/* before: the last reading, or NULL. counts: added to; when it fails
 * without the resets. -EPROTO: there is no port; -ENOMEM. */
int nexus_list(const struct nexus_values *values, const struct switch_list *before,
    struct switch_counts *counts, struct switch_list **ret, struct rm_error *error);

#endif

/*
 * nexus - builds the requests to the NX-API of a Cisco Nexus switch, and parses the
 * answers. Pure.
 *
 * A reading is one request with all commands for counters. Less often the request also
 * has the commands for neighbours (LLDP) and optical modules; a reading without them
 * keeps the last values. An answer may be large, so it is processed in two steps.
 * nexus_parse() extracts and sorts the values, and may run on a worker. nexus_list()
 * (nexus_list.h) runs on the loop, and combines the values with the last reading.
 *
 * The interfaces are not configured, but found in the answers: Ethernet ports, and
 * ports between the chips of the switch (ii). Other interfaces are ignored: VLANs and
 * port-channels count packets that the ports have counted already, and mgmt0 is not
 * part of the fabric.
 */
#ifndef TOR_AGGREGATOR_SWITCH_NEXUS_H
#define TOR_AGGREGATOR_SWITCH_NEXUS_H

#include <stddef.h>

#include "rackmesh/core/error.h"

#define NEXUS_MAX_BYTES (8 * 1024 * 1024) /* size of an answer */
/* JSON values in an answer; they take about 60 MB at most */
#define NEXUS_MAX_NODES 400000
/* values of one reading; further values are refused */
#define NEXUS_MAX_VALUES 131072
/* numbers for the QoS groups without a number */
#define NEXUS_CONTROL_QUEUE 8
#define NEXUS_SPAN_QUEUE 9

struct nexus_values;

/* What a request may ask for beside counters. */
#define NEXUS_NEIGHBORS 1u
#define NEXUS_OPTICS 2u
#define NEXUS_QUESTIONS 4 /* one request for each combination of these bits */

/* The body of the request, as JSON; the caller frees it. also: bits of NEXUS_NEIGHBORS
 * and NEXUS_OPTICS. NULL: out of memory. */
char *nexus_question(unsigned also);

/* Parses an answer. also: the bits of the request. On success the caller frees *ret.
 * -EPROTO: the text is no answer to this request, see *error; -ENOMEM. */
int nexus_parse(const char *text, size_t len, unsigned also, struct nexus_values **ret,
    struct rm_error *error);
void nexus_values_free(struct nexus_values *values); /* NULL is allowed */
/* The bits of NEXUS_* that were requested and answered. */
unsigned nexus_values_also(const struct nexus_values *values);

#endif

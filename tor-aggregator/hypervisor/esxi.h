/*
 * esxi - what to ask an ESXi host's shell, and what its answer means. Pure.
 *
 * One reading is one command, which runs esxcli and vsish for each NIC that the host
 * has, and marks what follows. Of an answer nothing counts before its last mark: one
 * that is cut short is no reading. Nothing is ever changed on the host.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_ESXI_H
#define TOR_AGGREGATOR_HYPERVISOR_ESXI_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

struct esxi;
struct hypervisor_nics;
struct hypervisor_nics_counts;

#define ESXI_MAX_BYTES (4u << 20) /* of one answer: 64 NICs of 1,500 lines each */
#define ESXI_LINE_BYTES 512

extern const char esxi_command[];

/* Begins a reading of nics; both are borrowed, counts are added to. NULL: no memory. */
struct esxi *esxi_new(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);
void esxi_free(struct esxi *esxi); /* NULL is fine */

/* What the command has printed, in any pieces. -EMSGSIZE: too much. */
int esxi_feed(struct esxi *esxi, const void *data, size_t len);
/* What it has printed to its errors: the begin of it is kept for esxi_end(). -EMSGSIZE:
 * too much, with what it has printed. */
int esxi_feed_error(struct esxi *esxi, const void *data, size_t len);
/* All has been printed: the reading counts. -EPROTO: it is not whole, or tells no NIC,
 * and does not count; error says it. */
int esxi_end(struct esxi *esxi, struct rm_error *error);

#endif

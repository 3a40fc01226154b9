/*
 * esxi - the command for an ESXi host's shell, and the parser of its output. Pure.
 *
 * One reading is one command, which runs esxcli and vsish for each NIC of the host, and
 * prints a mark before each part. Nothing counts before the last mark has come: output
 * that is cut short is not a reading. The command changes nothing on the host.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_ESXI_H
#define TOR_AGGREGATOR_HYPERVISOR_ESXI_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

struct esxi;
struct hypervisor_nics;
struct hypervisor_nics_counts;

#define ESXI_MAX_BYTES (4u << 20) /* for one answer: 64 NICs of 1,500 lines each */
#define ESXI_LINE_BYTES 512

extern const char esxi_command[];

/* Starts a reading of nics; both arguments are borrowed, counts are added to. NULL:
 * no memory. */
struct esxi *esxi_new(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);
void esxi_free(struct esxi *esxi); /* NULL is allowed */

/* Takes the command's output, in pieces of any size. -EMSGSIZE: too much. */
int esxi_feed(struct esxi *esxi, const void *data, size_t len);
/* Takes its error output: the start is kept for esxi_end(). -EMSGSIZE: too much,
 * together with its output. */
int esxi_feed_error(struct esxi *esxi, const void *data, size_t len);
/* The output is complete: the reading counts. -EPROTO: a part is missing, or it has
 * no NIC, and it does not count; error has the reason. */
int esxi_end(struct esxi *esxi, struct rm_error *error);

#endif

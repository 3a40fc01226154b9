/*
 * esxi - the command for an ESXi host's shell, and the parser of its output. Pure.
 *
 * A reading is one command, which runs esxcli and vsish for each NIC of the host, and
 * prints a mark before each part of its output. If the last mark is missing, the output
 * was cut short, and none of its values is used. The command changes nothing on the
 * host.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_ESXI_H
#define TOR_AGGREGATOR_HYPERVISOR_ESXI_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

struct esxi;
struct hypervisor_nics;
struct hypervisor_nics_counts;

/* size of an output: enough for 64 NICs with 1,500 lines each */
#define ESXI_MAX_BYTES (4u << 20)
#define ESXI_LINE_BYTES 512

extern const char esxi_command[];

/* Begins a reading of nics. Both arguments are borrowed; the reading's counts are added
 * to *counts. NULL: out of memory. */
struct esxi *esxi_new(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);
void esxi_free(struct esxi *esxi); /* NULL is allowed */

/* Parses the command's output, which may come in pieces of any size. -EMSGSIZE: it is
 * larger than ESXI_MAX_BYTES. */
int esxi_feed(struct esxi *esxi, const void *data, size_t len);
/* Takes the command's error output; its beginning is used in the error of esxi_end().
 * -EMSGSIZE: output and error output are larger than ESXI_MAX_BYTES. */
int esxi_feed_error(struct esxi *esxi, const void *data, size_t len);
/* Ends the reading; call it when the output is complete. -EPROTO: a part is missing, or
 * the host has no NIC: the values are not used, see *error. */
int esxi_end(struct esxi *esxi, struct rm_error *error);

#endif

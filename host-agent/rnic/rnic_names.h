/*
 * rnic_names - texts for API, metrics and shell: the transport of an RNIC, and what is
 * missing.
 */
#ifndef HOST_AGENT_RNIC_RNIC_NAMES_H
#define HOST_AGENT_RNIC_RNIC_NAMES_H

#include "host-agent/probe/port.h"
#include "host-agent/rnic/rnic_facts.h"
#include "schemas/wire.h"

const char *rnic_transport_str(enum rnic_transport transport); /* "udp", "roce" */
/*
 * Return texts: why an RNIC cannot be found (errors of rnic_facts_find) or opened, and
 * what to do. transport: as configured, or as found.
 */
const char *rnic_find_error(enum rnic_transport transport, int r);
const char *rnic_open_error(enum rnic_transport transport, int r);
/* Returns the source of time stamps: "nic", "wallclock" (the NIC's wall clock),
 * "kernel", "user" or "none". */
const char *rnic_stamps_str(enum wire_stamp_source stamps);
/* What determines a flow: "source-port", "label", "qp", "unknown". */
const char *rnic_flows_str(enum port_flows flows);

#endif

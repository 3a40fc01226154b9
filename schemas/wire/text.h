/*
 * text - the words of the wire's enums and the text of its addresses.
 *
 * The same word everywhere: in JSON, metric labels and line-protocol fields.
 */
#ifndef SCHEMAS_WIRE_TEXT_H
#define SCHEMAS_WIRE_TEXT_H

#include "schemas/wire.h"

/* "ok", "no_reply", ...; "unknown" for what a newer peer may send. */
const char *wire_outcome_str(unsigned outcome);
const char *wire_invalid_str(unsigned reason);  /* "none", "t4_before_t3", ... */
const char *wire_probe_kind_str(unsigned kind); /* "tor_mesh", "inter_tor", ... */
/* "rdma_rx_bytes", as docs/counters.md calls it; NULL: no counter that we know. */
const char *wire_counter_str(unsigned counter);
const char *wire_slow_str(unsigned reason); /* "none", "cpu", "memory", "plan" */
const char *wire_link_str(unsigned link);   /* "unknown", "up", "down" */
/* How an RNIC with this is probed: "udp", "roce", "ib". */
const char *wire_transport_str(uint32_t qpn, uint16_t lid);
const char *wire_qp_type_str(unsigned type);        /* "rc", "uc", "xrc" */
const char *wire_service_state_str(unsigned state); /* "resolving", "probed", ... */

/* "10.0.0.1", "10.0.0.1:862", "fd00::1", "[fd00::1]:862": a port of 0 is left out. */
#define WIRE_ADDRESS_TEXT 64
void wire_address_format(
    const struct wire_address *address, char text[WIRE_ADDRESS_TEXT]);

#endif

/*
 * text - names for the values of the messages' enums, and text forms of addresses.
 *
 * The same names are used in JSON, in metric labels and in fields of line protocol.
 */
#ifndef SCHEMAS_WIRE_TEXT_H
#define SCHEMAS_WIRE_TEXT_H

#include "schemas/wire.h"

/* Returns "ok", "no_reply", ...; "unknown" for values of newer peers. */
const char *wire_outcome_str(unsigned outcome);
const char *wire_invalid_str(unsigned reason);  /* "none", "t4_before_t3", ... */
const char *wire_probe_kind_str(unsigned kind); /* "tor_mesh", "inter_tor", ... */
/* Returns the name as in docs/counters.md, "rdma_rx_bytes"; NULL: an unknown counter.
 */
const char *wire_counter_str(unsigned counter);
/* True: the value of the counter is a state, and not an increase. */
bool wire_counter_is_gauge(unsigned counter);
const char *wire_slow_str(unsigned reason); /* "none", "cpu", "memory", "plan" */
const char *wire_link_str(unsigned link);   /* "unknown", "up", "down" */
/* Returns how an RNIC with this transport is probed: "udp", "roce" or "ib". */
const char *wire_transport_str(uint32_t qpn, uint16_t lid);
const char *wire_qp_type_str(unsigned type);        /* "rc", "uc", "xrc" */
const char *wire_service_state_str(unsigned state); /* "resolving", "probed", ... */

/* Writes an address: "10.0.0.1", "10.0.0.1:862", "fd00::1" or "[fd00::1]:862". Port 0
 * is not written. */
#define WIRE_ADDRESS_TEXT 64
void wire_address_format(
    const struct wire_address *address, char text[WIRE_ADDRESS_TEXT]);

#endif

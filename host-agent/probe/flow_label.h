/*
 * flow_label - how RoCEv2 devices choose the UDP source port of a packet. Pure.
 *
 * Switches hash that port, so it decides the path of the packet. No API returns the
 * port: these functions compute it as the kernel, rdma-core and the drivers do.
 */
#ifndef HOST_AGENT_PROBE_FLOW_LABEL_H
#define HOST_AGENT_PROBE_FLOW_LABEL_H

#include <stdint.h>

#include "host-agent/probe/port.h"

#define FLOW_LABEL_MAX 0xfffff
#define FLOW_LABEL_SPORT_MIN 0xc000 /* up to 0xffff */

/*
 * Returns the source port of a connected QP, or of an address handle with a label: the
 * label, folded to 14 bits. Label 0: the port is derived from both QPNs, and is the
 * same from either end. (For an address handle without a label, mlx5 and hns choose a
 * port that cannot be known.)
 */
uint16_t flow_label_sport(uint32_t label, uint32_t local_qpn, uint32_t remote_qpn);

/* Returns a label, never 0, that gives this source port. If the port is below
 * FLOW_LABEL_SPORT_MIN, only its low 14 bits are used. */
uint32_t flow_label_for_sport(uint16_t sport);

/* Returns the source port of all UD packets that this QP of a Soft-RoCE device sends;
 * it does not depend on the label. */
uint16_t flow_label_rxe_ud_sport(uint32_t qpn);

/* Returns how this driver ("mlx5", "mlx5_core", "rxe", ...) chooses the source port of
 * UD packets. */
enum port_flows flow_label_driver(const char *driver);

#endif

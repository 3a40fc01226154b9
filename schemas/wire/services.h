/*
 * services - the service flows that use an agent's RNICs, and requests for the RNIC at
 * their other end.
 */
#ifndef SCHEMAS_WIRE_SERVICES_H
#define SCHEMAS_WIRE_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"
#include "schemas/wire/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- service flows (agent -> aggregator) ---- */

enum wire_service_state {
	/* both addresses are known, but not yet the peer's RNIC */
	WIRE_SERVICE_RESOLVING = 1,
	WIRE_SERVICE_PROBED, /* the path of the flow is probed */
	/* the peer's RNIC is known, but the limit of probed flows is reached: the flow
	   will be probed later */
	WIRE_SERVICE_WAITING,
	WIRE_SERVICE_UNRESOLVED, /* the peer's RNIC is not known */
};

enum wire_qp_type {
	WIRE_QP_RC = 1,
	WIRE_QP_UC,
	WIRE_QP_XRC,
};

/* QPs of one process between the same two addresses, with the same source port and
 * class. */
struct wire_service_flow {
	struct wire_rnic_id src;
	struct wire_rnic_id dst;  /* guid 0: not resolved */
	struct wire_address peer; /* the peer's address, as the QP has it */
	const char *service;      /* "pod:...", "unit:...", "comm:..." */
	const char *comm;
	const char *pod; /* "namespace/name" of the pod, by the kubelet; "": not known,
			    or no pod */
	uint32_t pid;
	uint8_t qp_type; /* enum wire_qp_type */
	uint8_t state;   /* enum wire_service_state */
	uint8_t dscp;
	/* the QP is older than the agent: it was found in the kernel's list, and both
	 * ends were joined */
	bool older;
	uint16_t src_port; /* source port of the flow itself */
	/* source port of the probes along this flow; 0: there are none */
	uint16_t probe_port;
	uint32_t src_qpn, dst_qpn; /* numbers of one of the flow's QPs */
	uint32_t qps;
};

struct wire_services {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;
	bool tracing; /* false: the kernel or the config does not allow it */
	/* what is missing for tracing, as text; "": nothing is missing */
	const char *missing;
	uint64_t unresolved; /* number of QPs whose peer is not known */
	uint64_t over_cap;   /* number of flows that are over the limit */
	uint64_t events_dropped;
	const struct wire_service_flow *flows; /* all present flows */
	size_t flow_count;
};

struct wire_services_view {
	struct wire_services services; /* .flows is NULL */
	const void *opaque;
};

int wire_write_services(struct wire_writer *writer,
    const struct wire_services *services, struct wire_bytes *out);
int wire_open_services(
    struct wire_services_view *view, const uint8_t *data, size_t len);
void wire_services_flow(
    const struct wire_services_view *view, size_t i, struct wire_service_flow *out);

/* ---- the RNIC of an address ---- */

struct wire_resolve {
	/* chosen by the sender; the answer has the same token */
	uint64_t token;
	struct wire_address address; /* a GID or address; the port does not matter */
	/* the RNIC that will probe it; guid 0: no key is requested */
	struct wire_rnic_id prober;
};

int wire_write_resolve(struct wire_writer *writer, const struct wire_resolve *resolve,
    struct wire_bytes *out);
int wire_open_resolve(struct wire_resolve *view, const uint8_t *data, size_t len);

struct wire_resolve_answer {
	uint64_t token;
	bool found;            /* false: rnic is all zero */
	struct wire_rnic rnic; /* the RNIC with host, ToRs, plane, addresses and QPN */
	struct wire_pair_key key; /* key from prober to rnic; epoch 0: none */
};

int wire_write_resolved(struct wire_writer *writer,
    const struct wire_resolve_answer *answer, struct wire_bytes *out);
int wire_open_resolved(
    struct wire_resolve_answer *view, const uint8_t *data, size_t len);

/*
 * A request about a QP that is older than its agent. For such a QP the kernel reports
 * the QP numbers of both ends, but no address. The agent of the peer sees the same two
 * numbers, exchanged. The controller stores each request for a minute, and answers with
 * the RNIC of the one request that matches. If none matches, or several do, the answer
 * is "not found", and the agent asks again every half minute.
 */
struct wire_join {
	uint64_t token;
	struct wire_rnic_id rnic;
	uint32_t qpn, dst_qpn;
	uint8_t qp_type; /* enum wire_qp_type */
};

int wire_write_join(
    struct wire_writer *writer, const struct wire_join *join, struct wire_bytes *out);
int wire_open_join(struct wire_join *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif

/*
 * services - whose flows use the RNICs, and who has the other end.
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
	WIRE_SERVICE_RESOLVING = 1, /* both ends are known, the peer's RNIC not yet */
	WIRE_SERVICE_PROBED,        /* its way is being probed */
	WIRE_SERVICE_WAITING,       /* known, but over the cap: has its turn later */
	WIRE_SERVICE_UNRESOLVED,    /* nobody knows the peer */
};

enum wire_qp_type {
	WIRE_QP_RC = 1,
	WIRE_QP_UC,
	WIRE_QP_XRC,
};

/* QPs of one process between the same ends, with the same source port and class. */
struct wire_service_flow {
	struct wire_rnic_id src;
	struct wire_rnic_id dst;  /* guid 0: not resolved */
	struct wire_address peer; /* as the QP has it */
	const char *service;      /* "pod:...", "unit:...", "comm:..." */
	const char *comm;
	const char
	    *pod; /* its "namespace/name" by the kubelet; "": not known, or none */
	uint32_t pid;
	uint8_t qp_type; /* enum wire_qp_type */
	uint8_t state;   /* enum wire_service_state */
	uint8_t dscp;
	bool older;          /* than the agent: found by listing, joined at both ends */
	uint16_t src_port;   /* of the flow itself */
	uint16_t probe_port; /* of the probes that take its way; 0: none do */
	uint32_t src_qpn, dst_qpn; /* of one of its QPs */
	uint32_t qps;
};

struct wire_services {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;
	bool tracing;        /* false: this kernel or config does not give it */
	const char *missing; /* "" or what there is not, in words */
	uint64_t unresolved; /* QPs whose peer nobody knows, now */
	uint64_t over_cap;   /* flows that wait for their turn, now */
	uint64_t events_dropped;
	const struct wire_service_flow *flows; /* all of them, every time */
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

/* ---- whose address is this? ---- */

struct wire_resolve {
	uint64_t token;              /* the asker's; comes back */
	struct wire_address address; /* a GID or address; the port does not matter */
	struct wire_rnic_id prober; /* who wants to probe it; guid 0: no key is asked */
};

int wire_write_resolve(struct wire_writer *writer, const struct wire_resolve *resolve,
    struct wire_bytes *out);
int wire_open_resolve(struct wire_resolve *view, const uint8_t *data, size_t len);

struct wire_resolve_answer {
	uint64_t token;
	bool found;               /* else rnic is all zero */
	struct wire_rnic rnic;    /* with host, ToRs, plane, addresses, QPN */
	struct wire_pair_key key; /* from the prober to it; epoch 0: none */
};

int wire_write_resolved(struct wire_writer *writer,
    const struct wire_resolve_answer *answer, struct wire_bytes *out);
int wire_open_resolved(
    struct wire_resolve_answer *view, const uint8_t *data, size_t len);

/*
 * A QP that is older than its agent: the kernel tells both numbers, but no address. Its
 * peer's agent sees the same numbers the other way round. The controller remembers whom
 * has asked for a minute, and answers with the RNIC of the one asker that fits; asked
 * again every half minute while it is not found. Several fit: not found.
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

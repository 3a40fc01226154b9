/*
 * services_fixture - short functions for flows of services. Our RNIC n has the device
 * "rxen" and the address 10.0.0.n; peer n has 10.0.1.n and the GUID 0x100 + n.
 */
#ifndef TESTS_UNIT_HOST_AGENT_SERVICES_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_SERVICES_FIXTURE_H

#include "bpf/qp_event.h"
#include "host-agent/services/qp_list.h"
#include "host-agent/services/services.h"

#define PEER_GUID 0x100
#define OWN_GUID 0x10

/* Returns the flow label that gives UDP port 0xc000 + n, for n up to 0x3fff. */
uint32_t services_label(uint16_t n);
/* An event: a user-space process connects this QP of the RNIC owner. The process's
 * command contains pid. */
struct qp_event services_qp(
    unsigned owner, uint32_t qpn, unsigned peer, uint16_t port, uint32_t pid);
struct qp_event services_end(unsigned owner, uint32_t qpn);
struct qp_list_row services_row(uint32_t qpn, uint32_t dst_qpn, unsigned peer);
/* ports NULL: any ports. */
bool services_own(
    struct services *services, unsigned n, const uint16_t *ports, size_t count);
struct wire_rnic services_peer_rnic(unsigned n, const char *tor);
/* Answers all requests; peers from 200 on are not found. Returns the number of
 * requests. */
size_t services_answer_all(struct services *services, rm_mono_t now);
rm_mono_t services_at(int64_t ms);
/* A path function for which no path is known. */
uint64_t services_no_path(
    size_t owner, struct wire_rnic_id dst, uint16_t src_port, void *arg);
/* Returns the flow of this QP as it is reported. */
struct wire_service_flow services_flow(const struct services *services, uint32_t qpn);

#endif

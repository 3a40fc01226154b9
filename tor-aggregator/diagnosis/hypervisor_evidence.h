/*
 * hypervisor_evidence - what a vmnic of an ESXi host has counted between two readings
 * of it, as evidence. Pure.
 *
 * Both tables give one name to what means the same. Of a vmnic no RDMA is known, nor
 * what the virtual machines behind it do: what asks for that stays not known.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct evidence;
struct hypervisor_nic;

/* ns: between the two readings. False: it was not there, or was read once. */
bool hypervisor_evidence(const struct hypervisor_nic *nic, const char *host, int64_t ns,
    struct evidence *ret);

#endif

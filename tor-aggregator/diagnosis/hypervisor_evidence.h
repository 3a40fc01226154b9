/*
 * hypervisor_evidence - the counters of a vmnic of an ESXi host between two readings,
 * as evidence. Pure.
 *
 * Values with the same meaning have one name in both tables. Of a vmnic neither RDMA
 * counters nor the virtual machines behind it are known: rules that need them stay
 * unknown.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct evidence;
struct hypervisor_nic;

/* ns: between the two readings. False: it was missing, or was read only once. */
bool hypervisor_evidence(const struct hypervisor_nic *nic, const char *host, int64_t ns,
    struct evidence *ret);

#endif

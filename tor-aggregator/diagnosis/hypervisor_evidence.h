/*
 * hypervisor_evidence - the counters of a vmnic of an ESXi host between two readings,
 * as evidence. Pure.
 *
 * Values with the same meaning have the same name in hypervisor_rows[] and in the
 * counters of RNICs. For a vmnic neither RDMA counters nor its virtual machines are
 * known, so rules that need these are not known.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_HYPERVISOR_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct evidence;
struct hypervisor_nic;

/* ns: time between the two readings. False: the vmnic was missing, or was read only
 * once. */
bool hypervisor_evidence(const struct hypervisor_nic *nic, const char *host, int64_t ns,
    struct evidence *ret);

#endif

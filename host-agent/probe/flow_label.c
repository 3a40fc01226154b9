#include "host-agent/probe/flow_label.h"

#include <stddef.h>
#include <string.h>

#define SPORT_BITS 14
#define SPORT_MASK ((1u << SPORT_BITS) - 1)
#define QPN_MASK 0xffffff

/* Computes the same as rdma_calc_flow_label in the kernel's ib_verbs.h. */
static uint32_t
label_of_qpns(uint32_t local_qpn, uint32_t remote_qpn)
{
	uint64_t v = (uint64_t)(local_qpn & QPN_MASK) * (remote_qpn & QPN_MASK);

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)v & FLOW_LABEL_MAX;
}

uint16_t
flow_label_sport(uint32_t label, uint32_t local_qpn, uint32_t remote_qpn)
{
	label &= FLOW_LABEL_MAX;
	if (label == 0)
		label = label_of_qpns(local_qpn, remote_qpn);
	return (uint16_t)(((label & SPORT_MASK) ^ label >> SPORT_BITS) |
			  FLOW_LABEL_SPORT_MIN);
}

/* Sets the lowest bit above the 14 bits, so that the label is not 0; folding removes
 * that bit again. */
uint32_t
flow_label_for_sport(uint16_t sport)
{
	return 1u << SPORT_BITS | ((sport & SPORT_MASK) ^ 1);
}

/* Computes the same as hash_32(qpn, 14) in the kernel, which rxe_qp.c adds to the first
 * port. */
uint16_t
flow_label_rxe_ud_sport(uint32_t qpn)
{
	uint32_t hash = qpn * UINT32_C(0x61C88647);

	return (uint16_t)(FLOW_LABEL_SPORT_MIN + (hash >> (32 - SPORT_BITS)));
}

/*
 * The table has only those drivers whose sources show how they choose the port. mlx5,
 * hns: the provider in rdma-core derives the port from the address handle's label
 * (mlx5_ah_set_udp_sport in providers/mlx5/verbs.c, get_ah_udp_sport in providers/hns;
 * HIP08, the first generation of hns, gives user space no address handles at all). rxe:
 * rxe_qp_init_req in the kernel derives the port from the QPN; only QPs that get an
 * address vector get another port later, and UD QPs do not. mlx4, bnxt_re and irdma
 * hand the label to the device (mlx4_create_ah in providers/mlx4/verbs.c;
 * bnxt_re_create_ah and irdma_setup_ah in the kernel); no source says which port the
 * device derives from it. mana_ib_create_ah folds the label, too, but refuses user
 * space. efa is not RoCE.
 */
enum port_flows
flow_label_driver(const char *driver)
{
	static const struct {
		const char *prefix;
		enum port_flows flows;
	} known[] = {
		{ "mlx5", PORT_FLOWS_LABEL },
		{ "hns", PORT_FLOWS_LABEL },
		{ "rxe", PORT_FLOWS_QP },
		{ "rdma_rxe", PORT_FLOWS_QP },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(driver, known[i].prefix, strlen(known[i].prefix)) == 0)
			return known[i].flows;
	return PORT_FLOWS_UNKNOWN;
}

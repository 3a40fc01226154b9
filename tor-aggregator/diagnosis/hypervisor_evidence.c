#include "tor-aggregator/diagnosis/hypervisor_evidence.h"

#include <stdio.h>
#include <string.h>

#include "schemas/wire/text.h"
#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/hypervisor/hypervisor_nics.h"
#include "tor-aggregator/hypervisor/hypervisor_table.h"

/* Not mapped: a vmnic's packets without a buffer are not RDMA packets of an
 * application. */
static unsigned
number_of(const char *name)
{
	if (strcmp(name, "speed_mbps") == 0)
		return WIRE_COUNTER_PORT_RATE_MBPS;
	if (strcmp(name, "rx_out_of_buffer") == 0)
		return 0;
	for (unsigned i = 1; i < WIRE_COUNTERS; i++)
		if (strcmp(wire_counter_str(i), name) == 0)
			return i;
	return 0;
}

static bool
has_counted(const struct counter_state *state, bool gauge)
{
	return state->there &&
	       (gauge || (!state->back && (state->change == COUNTER_COUNTED ||
					      state->change == COUNTER_WRAPPED)));
}

/* If the host reports that PFC is off, sets it off for all priorities, because the host
 * may not list them. */
static void
take_pfc_off(const struct hypervisor_nic *nic, struct evidence *ret)
{
	const struct counter_state *on = &nic->states[hypervisor_value_of("pfc_on")];

	for (unsigned i = 0; on->there && on->total == 0 && i < EVIDENCE_INDEXES; i++)
		evidence_set(ret, WIRE_COUNTER_PFC_ENABLED, i, 0);
}

bool
hypervisor_evidence(const struct hypervisor_nic *nic, const char *host, int64_t ns,
    struct evidence *ret)
{
	const struct counter_state *state = nic->states;

	if (!nic->there || ns <= 0)
		return false;
	*ret = (struct evidence){ .host_ns = ns };
	snprintf(ret->name, sizeof(ret->name), "%s/%s", host, nic->name);
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		const unsigned number = number_of(row->name);

		for (unsigned i = 0; i < hypervisor_row_values(row); i++, state++)
			if (number == 0 || !has_counted(state, row->gauge))
				continue;
			else if (row->gauge ||
				 evidence_is_possible(number, state->delta, ns))
				evidence_set(ret, number, i,
				    row->gauge ? state->total : state->delta);
			else
				ret->impossible++;
	}
	take_pfc_off(nic, ret);
	return true;
}

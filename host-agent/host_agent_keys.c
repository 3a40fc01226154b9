/* What probes are authenticated with: from the aggregators to the RNICs, and to disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/host_agent_state.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/plans.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/key_file.h"

int
agent_new_keys(struct host_agent *agent)
{
	int r = key_ring_new(&agent->keys);

	if (r == 0)
		r = rm_key_files_new(
		    agent->config.state_folder, agent->worker, &agent->key_files);
	return r;
}

void
agent_load_keys(struct host_agent *agent)
{
	for (size_t i = 0; i < plans_tors(agent->plans); i++) {
		const char *tor = pinglist_tor(plans_at(agent->plans, i));
		const uint8_t *data;
		uint8_t *file;
		size_t len;
		int r;

		r = rm_key_files_load(agent->key_files, tor, &file, &data, &len);
		if (r == 0) {
			const char *taken;

			(void)key_ring_take(agent->keys, data, len, &taken, &r);
			explicit_bzero(file, len);
			free(file);
		}
		if (r < 0 && r != -ENOENT)
			rm_log_warn(r, "the keys of %s cannot be read", tor);
	}
}

int
agent_on_keys(struct uplink *uplink, const uint8_t *data, size_t len, void *arg)
{
	struct host_agent *agent = arg;
	const struct agent_aggregator_config *list = agent->config.aggregators.items;
	uint32_t before = key_ring_epoch(agent->keys), epoch;
	struct wire_keys view;
	const char *tor;
	size_t at = 0;
	int r;

	while (agent->uplinks[at] != uplink)
		at++;
	if (wire_open_keys(&view, data, len) == 0 &&
	    !agent_aggregator_serves(&list[at], view.tor)) {
		rm_log_warn(0, "%s: refused keys of a ToR that it does not serve",
		    uplink_address(uplink));
		return 0;
	}
	if (key_ring_take(agent->keys, data, len, &tor, &r)) {
		rm_key_files_save(agent->key_files, tor, data, len);
		epoch = key_ring_epoch(agent->keys);
		if (epoch != before)
			rm_log_info("probes carry MACs of epoch %u", (unsigned)epoch);
		agent_plan_tor(agent, tor);
	}
	if (r < 0)
		rm_log_warn(r, "%s: refused keys of probes", uplink_address(uplink));
	/* Of a ToR that is not ours, or no memory: says nothing about the link. */
	return r == -ENOENT || r == -ENOMEM ? 0 : r;
}

/* What probes are authenticated with: from the controllers to the agents. */
#include "tor-aggregator/agents/dispatch.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/tor_aggregator_events.h"
#include "tor-aggregator/tor_aggregator_state.h"

int
tor_aggregator_start_keys(struct tor_aggregator *aggregator)
{
	int r = key_store_new(aggregator->worker, aggregator->config->state_folder,
	    aggregator->tors, aggregator->rack_count, &aggregator->keys);

	if (r < 0)
		return r;
	key_store_load(aggregator->keys);
	dispatch_set_keys(aggregator->dispatch, aggregator->keys);
	return 0;
}

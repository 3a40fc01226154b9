#include "rackmesh/daemon/daemon.h"
#include "tor-aggregator/aggregator_check.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/tor_aggregator.h"

static int
start(struct rm_loop *loop, void *config, void **ret)
{
	struct tor_aggregator *aggregator = NULL;
	int r = tor_aggregator_new(loop, config, &aggregator);

	*ret = aggregator;
	return r;
}

static void
end(void *aggregator)
{
	tor_aggregator_free(aggregator);
}

static const struct rm_daemon aggregator_daemon = {
	.name = "tor-aggregator",
	.what = "judges the racks of its ToRs by the measurements of their host-agents",
	.config = &aggregator_config_type,
	.check = aggregator_check,
	.start = start,
	.reload = tor_aggregator_reload,
	.free = end,
};

int
main(int argc, char **argv)
{
	return rm_daemon_main(&aggregator_daemon, argc, argv);
}

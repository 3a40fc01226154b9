#include <stdlib.h>

#include "host-agent/agent_check.h"
#include "host-agent/agent_config.h"
#include "host-agent/host_agent.h"
#include "rackmesh/daemon/daemon.h"

static int
start(struct rm_loop *loop, void *config, void **ret)
{
	struct host_agent *agent = NULL;
	int r = host_agent_new(loop, config, &agent);

	*ret = agent;
	return r;
}

static void
end(void *agent)
{
	host_agent_free(agent);
}

static const struct rm_daemon agent_daemon = {
	.name = "host-agent",
	.what = "probes from this host's RNICs and answers others' probes",
	.config = &agent_config_type,
	.check = agent_check,
	.start = start,
	.reload = host_agent_reload,
	.free = end,
};

int
main(int argc, char **argv)
{
	/* Must be called before there are threads. Without this variable, libibverbs
	 * keeps the resources of a removed device for ever. */
	(void)setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 0);
	return rm_daemon_main(&agent_daemon, argc, argv);
}

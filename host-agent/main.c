#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "host-agent/agent_config.h"
#include "host-agent/host_agent.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

/* One run of the agent. *again: it wants to be restarted. r > 0: as
 * agent_config_load. */
static int
run(int argc, char **argv, bool *again)
{
	struct agent_config config = { 0 };
	struct rm_loop *loop = NULL;
	struct host_agent *agent = NULL;
	int r;

	*again = false;
	r = agent_config_load(&config, argc, argv); /* has logged the error */
	if (r != 0)
		return r;
	rm_config_log_level(config.log_level);

	r = rm_loop_new(&loop); /* TERM and INT end it, HUP reloads */
	if (r < 0) {
		rm_log_error(r, "cannot create the event loop");
		goto out;
	}
	r = host_agent_new(loop, &config, &agent);
	if (r < 0)
		goto out; /* has logged the error */
	rm_loop_on_reload(loop, host_agent_reload, agent);

	r = rm_loop_run(loop);
	if (r < 0)
		rm_log_error(r, "event loop failed");
	*again = r == 0 && rm_loop_wants_again(loop);
out:
	host_agent_free(agent);
	rm_loop_free(loop);
	agent_config_clear(&config);
	return r;
}

int
main(int argc, char **argv)
{
	bool again;
	int r;

	rm_log_open("host-agent");
	/* Must be called before there are threads. Without it libibverbs keeps the
	 * resources of a removed device for ever. */
	(void)setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 0);
	/* Between two loops SIGHUP has no handler. */
	(void)signal(SIGHUP, SIG_IGN);
	do
		r = run(argc, argv, &again);
	while (again);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

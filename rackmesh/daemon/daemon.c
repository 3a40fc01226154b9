#include "rackmesh/daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

/* Starts the daemon with a config, and runs its loop until the end. *again: true if the
 * caller has to read the config again and call this once more. */
static int
run(const struct rm_daemon *daemon, void *config, bool *again)
{
	struct rm_loop *loop = NULL;
	void *running = NULL;
	int r;

	r = rm_loop_new(&loop);
	if (r < 0) {
		rm_log_error(r, "cannot create the event loop");
		return r;
	}
	r = daemon->start(loop, config, &running); /* logs its errors */
	if (r == 0) {
		rm_loop_on_reload(loop, daemon->reload, running);
		r = rm_loop_run(loop);
		if (r < 0)
			rm_log_error(r, "event loop failed");
		*again = r == 0 && rm_loop_wants_again(loop);
		daemon->free(running);
	}
	rm_loop_free(loop);
	return r;
}

int
rm_daemon_main(const struct rm_daemon *daemon, int argc, char **argv)
{
	void *config = calloc(1, daemon->config->bytes);
	bool again;
	int r;

	rm_log_open(daemon->name);
	if (config == NULL) {
		rm_log_error(-ENOMEM, "cannot start");
		return EXIT_FAILURE;
	}
	/* While no loop runs, SIGHUP must not end the process. */
	(void)signal(SIGHUP, SIG_IGN);
	do {
		again = false;
		r = rm_config_start(
		    daemon->config, daemon->what, argc, argv, config, daemon->check);
		if (r == 0) {
			rm_config_log_level(daemon->config, config);
			r = run(daemon, config, &again);
			rm_config_clear(daemon->config->options, config);
		}
	} while (again);
	free(config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

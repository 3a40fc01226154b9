#include <stdlib.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/tor_aggregator.h"

int
main(int argc, char **argv)
{
	struct aggregator_config config = { 0 };
	struct tor_aggregator *aggregator = NULL;
	struct rm_loop *loop = NULL;
	int r;

	rm_log_open("tor-aggregator");

	r = aggregator_config_load(&config, argc, argv); /* has logged the error */
	if (r != 0)
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	rm_config_log_level(config.log_level);

	r = rm_loop_new(&loop); /* TERM and INT end it, HUP reloads */
	if (r < 0) {
		rm_log_error(r, "cannot create the event loop");
		goto out;
	}
	r = tor_aggregator_new(loop, &config, &aggregator);
	if (r < 0)
		goto out; /* has logged the error */
	rm_loop_on_reload(loop, tor_aggregator_reload, aggregator);

	r = rm_loop_run(loop);
	if (r < 0)
		rm_log_error(r, "event loop failed");
out:
	tor_aggregator_free(aggregator);
	rm_loop_free(loop);
	aggregator_config_clear(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

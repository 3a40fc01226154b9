#include <stdlib.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "region-controller/controller_config.h"
#include "region-controller/region_controller.h"

int
main(int argc, char **argv)
{
	struct controller_config config = { 0 };
	struct rm_loop *loop = NULL;
	struct region_controller *controller = NULL;
	int r;

	rm_log_open("region-controller");

	r = controller_config_load(&config, argc, argv); /* logs its errors */
	if (r != 0)
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	rm_config_log_level(config.log_level);

	r = rm_loop_new(&loop); /* ends by SIGTERM and SIGINT; SIGHUP reloads */
	if (r < 0) {
		rm_log_error(r, "cannot create the event loop");
		goto out;
	}
	r = region_controller_new(loop, &config, &controller);
	if (r < 0)
		goto out; /* has logged the error */
	rm_loop_on_reload(loop, region_controller_reload, controller);

	r = rm_loop_run(loop);
	if (r < 0)
		rm_log_error(r, "event loop failed");
out:
	region_controller_free(controller);
	rm_loop_free(loop);
	controller_config_clear(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

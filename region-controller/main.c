#include "rackmesh/daemon/daemon.h"
#include "region-controller/controller_check.h"
#include "region-controller/controller_config.h"
#include "region-controller/region_controller.h"

static int
start(struct rm_loop *loop, void *config, void **ret)
{
	struct region_controller *controller = NULL;
	int r = region_controller_new(loop, config, &controller);

	*ret = controller;
	return r;
}

static void
end(void *controller)
{
	region_controller_free(controller);
}

static const struct rm_daemon controller_daemon = {
	.name = "region-controller",
	.what = "plans the probes of a region, and sends the plans to its aggregators",
	.config = &controller_config_type,
	.check = controller_check,
	.start = start,
	.reload = region_controller_reload,
	.free = end,
};

int
main(int argc, char **argv)
{
	return rm_daemon_main(&controller_daemon, argc, argv);
}

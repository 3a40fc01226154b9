#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyzer.h"
#include "analyzer/analyzer_check.h"
#include "analyzer/analyzer_config.h"
#include "analyzer/history/history_schema.h"
#include "rackmesh/daemon/daemon.h"

static int
start(struct rm_loop *loop, void *config, void **ret)
{
	struct analyzer *analyzer = NULL;
	int r = analyzer_new(loop, config, &analyzer);

	*ret = analyzer;
	return r;
}

static void
end(void *analyzer)
{
	analyzer_free(analyzer);
}

static const struct rm_daemon analyzer_daemon = {
	.name = "analyzer",
	.what = "finds faults between racks, and writes the history",
	.config = &analyzer_config_type,
	.check = analyzer_check,
	.start = start,
	.reload = analyzer_reload,
	.free = end,
};

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--help-schema") == 0) {
		history_schema_print(stdout);
		return EXIT_SUCCESS;
	}
	return rm_daemon_main(&analyzer_daemon, argc, argv);
}

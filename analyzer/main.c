#include <stdlib.h>
#include <string.h>

#include "analyzer/analyzer.h"
#include "analyzer/analyzer_config.h"
#include "analyzer/history/history_schema.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

int
main(int argc, char **argv)
{
	struct analyzer_config config = { 0 };
	struct rm_loop *loop = NULL;
	struct analyzer *analyzer = NULL;
	int r;

	rm_log_open("analyzer");
	if (argc == 2 && strcmp(argv[1], "--help-schema") == 0) {
		history_schema_print(stdout);
		return EXIT_SUCCESS;
	}

	r = analyzer_config_load(&config, argc, argv); /* logs its errors */
	if (r != 0)
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	rm_config_log_level(config.log_level);

	r = rm_loop_new(&loop); /* ends by SIGTERM and SIGINT; SIGHUP reloads */
	if (r < 0) {
		rm_log_error(r, "cannot create the event loop");
		goto out;
	}
	r = analyzer_new(loop, &config, &analyzer);
	if (r < 0)
		goto out; /* has logged the error */
	rm_loop_on_reload(loop, analyzer_reload, analyzer);

	r = rm_loop_run(loop);
	if (r < 0)
		rm_log_error(r, "event loop failed");
out:
	analyzer_free(analyzer);
	rm_loop_free(loop);
	analyzer_config_clear(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

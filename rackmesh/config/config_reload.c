#include "rackmesh/config/config_reload.h"

#include <errno.h>
#include <stdlib.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"

void
rm_reload_start(struct rm_reload *reload, rm_wall_t now)
{
	reload->successful = 1;
	reload->success_s = (uint64_t)(now.ns / RM_NS_PER_S);
}

static void
take(struct rm_reload *reload, const struct rm_config_type *type, void *config,
    void *fresh, rm_wall_t now)
{
	struct rm_error waiting = { 0 };

	reload->need_restart =
	    rm_config_waiting(type->options, config, fresh, &waiting);
	rm_config_exchange(type->options, config, fresh);
	reload->taken++;
	rm_reload_start(reload, now);
	if (reload->need_restart > 0)
		rm_log_warn(0, "config: reloaded, except what needs a restart: %s",
		    waiting.text);
	else
		rm_log_info("config: reloaded");
	rm_config_log_level(type, config);
}

bool
rm_reload_read(struct rm_reload *reload, const struct rm_config_type *type,
    void *config, rm_wall_t now,
    int (*amend)(void *fresh, struct rm_error *error, void *arg), void *arg)
{
	const char *path = *(const char **)((char *)config + type->path);
	struct rm_error error = { 0 };
	void *fresh = malloc(type->bytes);
	int r;

	if (fresh == NULL)
		r = rm_error_set(&error, -ENOMEM, "out of memory");
	else
		r = rm_config_read(type, fresh, path, &error);
	if (r == 0) {
		if (amend != NULL)
			r = amend(fresh, &error, arg);
		if (r == 0)
			take(reload, type, config, fresh, now);
		rm_config_clear(type->options, fresh);
	}
	if (r < 0) {
		reload->refused++;
		reload->successful = 0;
		rm_log_error(
		    0, "config: refused, the old one stays in use: %s", error.text);
	}
	free(fresh);
	return r == 0;
}

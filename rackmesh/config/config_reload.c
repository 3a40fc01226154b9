#include "rackmesh/config/config_reload.h"

#include "rackmesh/config/config.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"

void
rm_reload_start(struct rm_reload *reload, rm_wall_t now)
{
	reload->successful = 1;
	reload->success_s = (uint64_t)(now.ns / RM_NS_PER_S);
}

bool
rm_reload_take(struct rm_reload *reload, const struct rm_option *options, int r,
    const struct rm_error *error, void *config, void *fresh, rm_wall_t now)
{
	struct rm_error waiting = { 0 };

	if (r < 0) {
		reload->refused++;
		reload->successful = 0;
		rm_log_error(
		    0, "config: refused, the old one stays in use: %s", error->text);
		return false;
	}
	reload->need_restart = rm_config_waiting(options, config, fresh, &waiting);
	rm_config_exchange(options, config, fresh);
	reload->taken++;
	rm_reload_start(reload, now);
	if (reload->need_restart > 0)
		rm_log_warn(0, "config: reloaded, except what needs a restart: %s",
		    waiting.text);
	else
		rm_log_info("config: reloaded");
	return true;
}

/*
 * config_reload - applies a reload (SIGHUP) to a running daemon's options, and logs the
 * result.
 *
 * A file with an error changes nothing. Else the options that a reload may change get
 * their new values; the others keep the old ones until a restart, and the log names
 * them.
 */
#ifndef RACKMESH_CONFIG_CONFIG_RELOAD_H
#define RACKMESH_CONFIG_CONFIG_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_config_type;
struct rm_error;

struct rm_reload {
	/* taken: reloads that changed the config; refused: reloads with an error */
	uint64_t taken, refused;
	uint64_t successful; /* 1: the last reload succeeded; also 1 before the first */
	uint64_t
	    success_s; /* wall clock of the last successful reload, or of the start */
	uint64_t need_restart; /* number of changed options that need a restart */
};

void rm_reload_start(struct rm_reload *reload, rm_wall_t now);

/*
 * Reads the config's file again, and logs the result. True: config has the new values
 * of all options that a reload may change, and the log has its new level; the caller
 * applies the other ones. False: nothing has changed. amend: a function that may change
 * the new config before it is compared with the old one. To refuse the config, it fills
 * error and returns a negative errno. NULL: there is no such function.
 */
bool rm_reload_read(struct rm_reload *reload, const struct rm_config_type *type,
    void *config, rm_wall_t now,
    int (*amend)(void *fresh, struct rm_error *error, void *arg), void *arg);

#endif

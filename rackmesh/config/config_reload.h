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
	uint64_t taken, refused; /* reloads */
	uint64_t successful; /* 1: the last reload succeeded; also 1 before the first */
	uint64_t
	    success_s; /* wall clock of the last successful reload, or of the start */
	uint64_t need_restart; /* options of the file that wait for a restart */
};

void rm_reload_start(struct rm_reload *reload, rm_wall_t now);

/*
 * Reads the config's file again. True: config has the new values of all options that a
 * reload may change, and the log its new level; the caller applies the others. False:
 * nothing has changed. Both are logged.
 *
 * amend changes what was read before it is compared with config, or refuses it with a
 * negative errno and error; NULL: as it was read.
 */
bool rm_reload_read(struct rm_reload *reload, const struct rm_config_type *type,
    void *config, rm_wall_t now,
    int (*amend)(void *fresh, struct rm_error *error, void *arg), void *arg);

#endif

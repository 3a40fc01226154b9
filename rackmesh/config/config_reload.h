/*
 * config_reload - applies a reload (SIGHUP) to a running daemon's options, and logs the
 * result.
 *
 * A file with an error changes nothing. Else the options that a reload may change are
 * taken over; the others keep their values until a restart, and are named.
 */
#ifndef RACKMESH_CONFIG_CONFIG_RELOAD_H
#define RACKMESH_CONFIG_CONFIG_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_option;
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
 * Call it after the file was read again: r and error are the results of that, fresh is
 * the new config. True: config has the new values of all options that a reload may
 * change, and fresh the former ones; the caller applies the new ones and clears fresh.
 * False: nothing has changed, and fresh is clear. Both are logged.
 */
bool rm_reload_take(struct rm_reload *reload, const struct rm_option *options, int r,
    const struct rm_error *error, void *config, void *fresh, rm_wall_t now);

#endif

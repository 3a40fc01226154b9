/*
 * config_reload - what a SIGHUP changes of a running daemon's options, and what it
 * says.
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
	uint64_t successful;     /* the last one was; also 1 before the first */
	uint64_t success_s; /* wall clock of the last one that was, or of the start */
	uint64_t need_restart; /* options of the file that wait for a restart */
};

void rm_reload_start(struct rm_reload *reload, rm_wall_t now);

/*
 * After a daemon has read its file anew: r and why as that said, fresh what it filled.
 * True: fresh holds the former values of all options that a reload may change, config
 * the new ones; the caller puts them to work, and clears fresh. False: fresh is clear,
 * nothing has changed. Both are logged.
 */
bool rm_reload_take(struct rm_reload *reload, const struct rm_option *options, int r,
    const struct rm_error *error, void *config, void *fresh, rm_wall_t now);

#endif

/*
 * daemon - the life of a daemon's process: command line, config, log, event loop,
 * reloads, end.
 *
 * A daemon supplies a table, and its main() returns what rm_daemon_main returns.
 * SIGTERM and SIGINT end the loop, SIGHUP calls reload. A daemon that ends its loop
 * with rm_loop_again is started again, with its config read anew.
 */
#ifndef RACKMESH_DAEMON_DAEMON_H
#define RACKMESH_DAEMON_DAEMON_H

#include <stdbool.h>

struct rm_config_type;
struct rm_loop;

struct rm_daemon {
	const char *name; /* name of the program in the log */
	const char *what; /* purpose of the daemon, one line for --help */
	const struct rm_config_type *config;
	/* For --check, as in rm_config_start. */
	unsigned (*check)(const void *config, bool connect);
	/* Starts the daemon, and logs its errors. config lives longer than the daemon;
	 * the function may change it, and may take over its contents. *ret is passed to
	 * reload and free. */
	int (*start)(struct rm_loop *loop, void *config, void **ret);
	void (*reload)(void *daemon);
	void (*free)(void *daemon); /* called before the loop is freed, and not if start
				       has failed */
};

/* Returns the exit status of the process. Errors are logged. */
int rm_daemon_main(const struct rm_daemon *daemon, int argc, char **argv);

#endif

/*
 * config - a daemon's options as one table: name, kind, default, range, help.
 *
 * The table is the only place an option is described: it parses the file, checks
 * ranges, prints --help-config and states which options a reload may change. Defaults
 * are strings and pass the same parser. An unknown or duplicate key, a value of the
 * wrong kind or out of range, and a missing option are errors that name file, line and
 * option.
 */
#ifndef RACKMESH_CONFIG_CONFIG_H
#define RACKMESH_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rackmesh/core/error.h"

enum rm_option_kind {
	RM_UINT = 1, /* uint64_t; max 0: no limit, as for all kinds */
	RM_BOOL,     /* bool */
	RM_STRING,   /* char *; min, max: length */
	RM_ENUM,     /* int; .names, ended by a NULL name */
	RM_LIST,     /* struct rm_list of char *; max: items */
	/* struct rm_list of structs (.options, .item_bytes); max: items. One of .names
	   may replace the list: the name is read as a list of one item, whose first
	   option has that value. */
	RM_TABLE,
};

enum rm_option_flags {
	RM_REQUIRED = 1, /* for RM_LIST and RM_TABLE: at least one item */
	RM_RELOAD = 2,   /* SIGHUP may change it */
	RM_SECRET = 4,   /* never printed */
};

struct rm_list {
	void *items;
	size_t count;
};

struct rm_enum_name {
	const char *name;
	int value;
};

/* One option. "a.b" as name means key b inside map a. An entry whose name is NULL ends
 * the table. */
struct rm_option {
	const char *name;
	enum rm_option_kind kind;
	size_t offset;
	/* The default value, as text. NULL: the field becomes 0, or, with RM_REQUIRED,
	 * a missing option is an error. The default of a RM_LIST is written "[a, b]".
	 */
	const char *fallback;
	uint64_t min, max;
	unsigned flags;
	const char *help;
	const struct rm_enum_name *names;
	const struct rm_option *options;
	size_t item_bytes;
};

/* Fills *config (zeroed by the caller) from the file; path NULL: defaults only.
 * On failure *config is cleared. */
int rm_config_load(const struct rm_option *options, const char *path, void *config,
    struct rm_error *error);
int rm_config_parse(const struct rm_option *options, const char *name, const char *text,
    size_t len, void *config, struct rm_error *error);
void rm_config_clear(const struct rm_option *options, void *config);

/*
 * Fills error for a check that the table cannot express: of several options together,
 * or of an option with its own syntax. Such checks run after the table was filled, when
 * the lines are not known any more. So this function reads the file again to find the
 * line. format: the option, "http.listen" or "rnics[%zu].tor"; text: what was expected.
 * Returns -EINVAL.
 */
int rm_config_refuse(const char *path, struct rm_error *error, const char *text,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Does the same as rm_config_refuse, for a value that is not secret: the text ends with
 * ", found ...". */
int rm_config_refuse_value(const char *path, struct rm_error *error, const char *text,
    const char *value, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Puts file and line before an error of the form "option: reason", from a check that
 * does not know the file. Returns r. */
int rm_config_locate(const char *path, struct rm_error *error, int r);

/* Puts the system's host name where *name is still NULL. */
int rm_config_host_name(char **name, const char *option, struct rm_error *error);

/* Returns the number of options that differ and are not RM_RELOAD: their new values
 * take effect after a restart. error: their names, "region, rnics[0].device"; "": none.
 */
size_t rm_config_waiting(const struct rm_option *options, const void *old,
    const void *fresh, struct rm_error *error);
/* Exchanges the values of all RM_RELOAD options between the two configs. */
void rm_config_exchange(const struct rm_option *options, void *config, void *fresh);

void rm_config_help(const struct rm_option *options, FILE *out);

/* set it to zeros first; the strings are borrowed from argv */
struct rm_config_command {
	const char *path; /* NULL: no file */
	bool check;       /* check the config and exit */
	bool connect;     /* also try to connect to the peers */
	const char *user; /* the user whose rights --check uses; NULL: not given */
};

/*
 * Reads the command line that all daemons share: --config FILE, --check with --connect
 * and --user NAME, --help-config, --help, --version, --verbose. what: one line about
 * the daemon, for --help. Returns 0: start the daemon; 1: the request is done, so exit
 * with 0; or a negative errno with error filled.
 */
int rm_config_arguments(const struct rm_option *options, const char *what, int argc,
    char **argv, struct rm_config_command *command, struct rm_error *error);

/* The config of a daemon: its struct, and its rules beyond the table of options. */
struct rm_config_type {
	const struct rm_option *options;
	size_t bytes; /* of the struct */
	/* Offsets in the struct. */
	size_t path;      /* const char *: the file, borrowed; NULL: none */
	size_t name;      /* char *: set to the system's host name if it is not given */
	size_t log_level; /* int, of RM_LOG_LEVEL_OPTION */
	const char *name_option; /* the option of that name, "host" */
	/* Checks rules that concern several options, and computes the fields that
	 * depend on other options. */
	int (*check)(void *config, struct rm_error *error);
	/* Further checks at the start only, not at a reload. NULL: there are none. */
	int (*check_start)(void *config, struct rm_error *error);
};

/* Fills *config from the file; path NULL: defaults only. The old contents of *config
 * are not freed. On failure *config is clear. */
int rm_config_read(const struct rm_config_type *type, void *config, const char *path,
    struct rm_error *error);

/*
 * Starts a daemon: reads the command line, then the config. With --check it also calls
 * `check`, which checks certificates, folders and addresses, logs its findings and
 * returns the number of errors. Then the result is printed, and *config is clear. If
 * root uses --check, the checks run as the user of --user, or else as the systemd
 * units' user if there is one. Returns the same values as rm_config_arguments; errors
 * have been logged.
 */
int rm_config_start(const struct rm_config_type *type, const char *what, int argc,
    char **argv, void *config, unsigned (*check)(const void *config, bool connect));

/* The least severe level that is logged; --verbose: all. A daemon sets it once it is
 * configured, and after each reload. */
#define RM_LOG_LEVEL_OPTION(config, field)                                      \
	{                                                                       \
		"log.level", RM_ENUM, offsetof(config, field), "info", 0, 0,    \
		    RM_RELOAD,                                                  \
		    "lines of this level and of more severe levels are logged", \
		    rm_config_log_levels, NULL, 0                               \
	}
extern const struct rm_enum_name rm_config_log_levels[];
/* Sets the level of the log to that of the config. */
void rm_config_log_level(const struct rm_config_type *type, const void *config);

#define RM_CONFIG_ACCEPTS 256

/* Writes what the option accepts, "a whole number between 10 and 60000 (ms)", and
 * returns out. */
const char *rm_config_accepts(
    const struct rm_option *option, char out[RM_CONFIG_ACCEPTS]);

#define RM_CONFIG_NAME 160 /* longest dotted name, with its 0 */

/* Finds the option that is most similar to a mistyped name. name: dotted, below the
 * table. False: no option is similar enough. */
bool rm_config_near(
    const struct rm_option *options, const char *name, char ret[RM_CONFIG_NAME]);

#endif

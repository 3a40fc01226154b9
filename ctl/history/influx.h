/*
 * influx - sends statements to an InfluxDB, by libcurl; blocks. `history init` needs
 * the rights of an admin, which the analyzer does not have, so rackmeshctl does this
 * itself.
 */
#ifndef CTL_HISTORY_INFLUX_H
#define CTL_HISTORY_INFLUX_H

#include <jansson.h>

struct influx_place {
	const char *url;      /* "http://host:8086", or without the scheme */
	const char *database; /* "rackmesh" */
	const char *user;     /* NULL: none; borrowed */
	/* CA bundle for https, PEM; NULL: the system's; borrowed */
	const char *authorities;
	char password[256];
};

enum influx_kind {
	INFLUX_1 = 1, /* any database that understands InfluxQL */
	INFLUX_2,
	INFLUX_VICTORIA,
};

/* Reads the password from the first line of the file. -errno: the error was printed. */
int influx_password(struct influx_place *place, const char *path);

/* Finds the kind of the database. -errno: the error was printed. */
int influx_kind(const struct influx_place *place, enum influx_kind *ret);

/* Runs one statement. *ret (may be NULL; new reference): the array of the result's
 * series, perhaps empty. -errno: the error of the database was printed. */
int influx_query(const struct influx_place *place, const char *statement, json_t **ret);

#endif

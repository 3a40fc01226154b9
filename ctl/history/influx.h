/*
 * influx - statements to an InfluxDB, by libcurl, blocking: what `history init` makes
 * needs the rights of an admin, which the analyzer does not have.
 */
#ifndef CTL_HISTORY_INFLUX_H
#define CTL_HISTORY_INFLUX_H

#include <jansson.h>

struct influx_place {
	const char *url;         /* "http://host:8086", or without the scheme */
	const char *database;    /* "rackmesh" */
	const char *user;        /* NULL: none; borrowed */
	const char *authorities; /* of https, PEM; NULL: the system's; borrowed */
	char password[256];
};

enum influx_kind {
	INFLUX_1 = 1, /* a database with InfluxQL */
	INFLUX_2,
	INFLUX_VICTORIA,
};

/* The first line of the file. -errno; the error has been printed. */
int influx_password(struct influx_place *place, const char *path);

/* The kind of the database. -errno; the error has been printed. */
int influx_kind(const struct influx_place *place, enum influx_kind *ret);

/* Runs one statement. *ret (may be NULL; new reference): its list of series, perhaps
 * empty. -errno; the database's error has been printed. */
int influx_query(const struct influx_place *place, const char *statement, json_t **ret);

#endif

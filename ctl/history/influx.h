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
	INFLUX_1 = 1, /* what speaks InfluxQL */
	INFLUX_2,
	INFLUX_VICTORIA,
};

/* The first line of the file. -errno, having said why. */
int influx_password(struct influx_place *place, const char *path);

/* What is there? -errno, having said that nothing answers. */
int influx_kind(const struct influx_place *place, enum influx_kind *ret);

/* One statement. *ret (may be NULL; new reference): its list of series, perhaps empty.
 * -errno, having said what the database said. */
int influx_query(const struct influx_place *place, const char *statement, json_t **ret);

#endif

/*
 * ctl - the environment of every command of rackmeshctl, and its result. A command is
 * one file: ctl/<noun>.c. It queries one daemon's HTTP API, prints a table for people
 * or, with --json, the daemon's own JSON, and returns an exit code, which is the same
 * in both cases.
 */
#ifndef CTL_CLIENT_CTL_H
#define CTL_CLIENT_CTL_H

#include <stdbool.h>

/* Exit codes, for scripts. */
enum {
	CTL_GOOD = 0,
	CTL_BAD_NEWS = 1,  /* the answer is that something is wrong */
	CTL_USAGE = 2,     /* the command line is */
	CTL_NO_ANSWER = 3, /* the daemon could not be asked, or refused */
};

struct ctl {
	const char *aggregator; /* "http://host:port" or "unix:/path" */
	const char *controller;
	const char *controller_changes; /* where it takes what changes something */
	const char *analyzer;
	const char *agent;
	const char
	    *through; /* "aggregator", "controller", "analyzer"; NULL: the usual */
	const char *certificate, *key, *authorities; /* for https; NULL: none */
	const char *token;  /* file of a viewer's; NULL: none */
	bool is_rack_asked; /* an aggregator was named */
	bool json;
	int argc; /* what follows the command */
	char **argv;
};

int ctl_topology(const struct ctl *ctl);
int ctl_racks(const struct ctl *ctl);
int ctl_rnics(const struct ctl *ctl);
int ctl_hosts(const struct ctl *ctl);
int ctl_pinglist(const struct ctl *ctl);
int ctl_incidents(const struct ctl *ctl);
int ctl_drill(const struct ctl *ctl);
int ctl_history(const struct ctl *ctl);
int ctl_health(const struct ctl *ctl);
int ctl_mesh(const struct ctl *ctl);
int ctl_explain(const struct ctl *ctl);
int ctl_leader(const struct ctl *ctl);
int ctl_versions(const struct ctl *ctl);
int ctl_brake(const struct ctl *ctl);
int ctl_resolve(const struct ctl *ctl);
int ctl_services(const struct ctl *ctl);
int ctl_counters(const struct ctl *ctl);
int ctl_drift(const struct ctl *ctl);
int ctl_switch(const struct ctl *ctl);
int ctl_hypervisors(const struct ctl *ctl);
int ctl_diagnosis(const struct ctl *ctl);
int ctl_pause(const struct ctl *ctl);
int ctl_resume(const struct ctl *ctl);
int ctl_doctor(const struct ctl *ctl);
int ctl_accept(const struct ctl *ctl);

/* The address of that tier ("aggregator", ...), or NULL: there is no such tier. */
const char *ctl_tier(const struct ctl *ctl, const char *tier);

/* Prints the error of the command line, and returns CTL_USAGE. */
int ctl_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

/*
 * ctl - the environment of every command of rackmeshctl, and its result. A command is
 * one file: ctl/<noun>.c. It queries one daemon's HTTP API, prints a table for people
 * or, with --json, the daemon's own JSON, and returns an exit code, which is the same
 * in both cases.
 */
#ifndef CTL_CLIENT_CTL_H
#define CTL_CLIENT_CTL_H

#include <stdbool.h>

/* Exit codes, also for scripts. */
enum {
	CTL_GOOD = 0,
	CTL_PROBLEM = 1,   /* the answer shows that something is wrong */
	CTL_USAGE = 2,     /* the command line is wrong */
	CTL_NO_ANSWER = 3, /* the daemon did not answer, or refused the request */
};

struct ctl {
	const char *aggregator; /* "http://host:port" or "unix:/path" */
	const char *controller;
	/* address of the controller for requests that change something */
	const char *controller_changes;
	const char *analyzer;
	const char *agent;
	/* "aggregator", "controller" or "analyzer", from --through; NULL: the
	 * command's default */
	const char *through;
	const char *certificate, *key, *authorities; /* files for https; NULL: none */
	const char *token;                           /* file with a viewer's token */
	bool is_rack_asked; /* true: the command line names an aggregator */
	bool json;
	int argc; /* number of arguments after the command */
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

/* Returns the address of the daemon of that tier ("aggregator", ...); NULL: there is no
 * such tier. */
const char *ctl_tier(const struct ctl *ctl, const char *tier);

/* Prints the error in the command line, and returns CTL_USAGE. */
int ctl_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

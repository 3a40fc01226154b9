/*
 * host - all that the checks of doctor see of the machine.
 *
 * Files are read below root, answers of daemons are there as JSON, and the little else
 * goes through calls: a test gives a folder and its own calls.
 */
#ifndef CTL_DOCTOR_HOST_H
#define CTL_DOCTOR_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timex.h>

#define HOST_TEXT 256    /* a line of a file in /proc or /sys */
#define HOST_NAME 64     /* a device's name */
#define HOST_MAX_LIST 64 /* devices, ports, RNICs that are looked at */

struct rm_yaml;

struct host_output {
	int status; /* exit status, or 128 + signal */
	size_t len;
	char text[65536]; /* both streams, terminated; more is thrown away */
};

/* Each ends within a few seconds, and returns 0 or -errno. */
struct host_calls {
	/* argv[0] is searched in PATH (-ENOENT). user: NULL, or the user to run it as,
	 * if we have the right. */
	int (*run)(void *arg, const char *const *argv, const char *user,
	    struct host_output *ret);
	/* address: as in a config, or a URL. -ENOENT: its name has no address. */
	int (*connect)(void *arg, const char *address);
	/* Does the netdev stamp packets in hardware? */
	int (*stamps)(void *arg, const char *netdev, bool *ret);
};

struct host {
	const char *root;    /* in front of every path; "": this machine's own */
	const char *configs; /* folder of the daemons' configs, below root */
	const struct host_calls *calls;
	void *arg;

	struct timex clock;
	int clock_state; /* adjtimex's answer; < 0: it failed */
	int64_t now_s;   /* since the epoch */

	/* The agent's answers; NULL: none. */
	json_t *rnics, *aggregators, *services;
	char agent_error[HOST_TEXT]; /* why there are none */
	json_t *refused; /* the controller's /v1/refused; NULL: not asked, or none */

	struct rm_yaml *agent_config; /* NULL: there is none, or it is not YAML */
	long agent_pid;               /* 0: not known */
};

/* Files below root; format makes the path. text: the first line, without its end. */
int host_text(const struct host *host, char text[HOST_TEXT], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int host_number(const struct host *host, long *ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool host_exists(const struct host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The whole file, at most 1 MiB; the caller frees it. NULL: -errno in *r. */
char *host_file(const struct host *host, int *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The effective capabilities of the running agent; false: not known. */
bool host_agent_capabilities(const struct host *host, unsigned long long *ret);
bool host_has_capability(unsigned long long capabilities, int bit);
/* The names in a folder, sorted, without those that begin with a dot. */
size_t host_list(const struct host *host, char names[HOST_MAX_LIST][HOST_NAME],
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

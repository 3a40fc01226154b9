/*
 * host - all data of a machine that the checks of doctor use.
 *
 * Files are read below root, answers of daemons are there as JSON, and everything else
 * goes through host_calls. So a test can use a folder and calls of its own.
 */
#ifndef CTL_DOCTOR_HOST_H
#define CTL_DOCTOR_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timex.h>

#define HOST_TEXT 256    /* longest line of a file in /proc or /sys */
#define HOST_NAME 64     /* longest name of a device */
#define HOST_MAX_LIST 64 /* most devices, ports or RNICs that are examined */

struct rm_yaml;

struct host_output {
	int status; /* exit status, or 128 plus the signal */
	size_t len;
	char text[65536]; /* stdout and stderr, terminated; the rest is dropped */
};

/* Each call ends within a few seconds, and returns 0 or -errno. */
struct host_calls {
	/* Runs a program. argv[0] is searched for in PATH (-ENOENT: not found). user:
	 * runs it as this user, if this process may do so; NULL: as the present
	 * user. */
	int (*run)(void *arg, const char *const *argv, const char *user,
	    struct host_output *ret);
	/* Connects to address, which is as in a config, or a URL. -ENOENT: the name has
	 * no address. */
	int (*connect)(void *arg, const char *address);
	/* *ret: the netdev can stamp packets in hardware. */
	int (*stamps)(void *arg, const char *netdev, bool *ret);
};

struct host {
	const char *root;    /* prefix of every path; "": none */
	const char *configs; /* folder of the daemons' configs, below root */
	const struct host_calls *calls;
	void *arg;

	struct timex clock;
	int clock_state; /* result of adjtimex; < 0: it failed */
	int64_t now_s;   /* since the epoch */

	/* Answers of the agent; NULL: there is none. */
	json_t *rnics, *aggregators, *services;
	char agent_error[HOST_TEXT]; /* why there are no answers of the agent */
	json_t *refused; /* the controller's /v1/refused; NULL: there is none */

	struct rm_yaml *agent_config; /* NULL: there is none, or it is not YAML */
	long agent_pid;               /* 0: not known */
};

/* Read files below root; format makes the path. host_text: the first line without its
 * line break. */
int host_text(const struct host *host, char text[HOST_TEXT], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int host_number(const struct host *host, long *ret, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool host_exists(const struct host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the content of a file of at most 1 MiB, which the caller frees. NULL: *r is
 * -errno. */
char *host_file(const struct host *host, int *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* *ret: the effective capabilities of the running agent. False: they are not known. */
bool host_agent_capabilities(const struct host *host, unsigned long long *ret);
bool host_has_capability(unsigned long long capabilities, int bit);
/* The names in a folder, sorted, without those that begin with a dot. Returns their
 * number. */
size_t host_list(const struct host *host, char names[HOST_MAX_LIST][HOST_NAME],
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

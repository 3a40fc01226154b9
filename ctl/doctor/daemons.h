/*
 * daemons - which daemons of Rackmesh are installed on a host, and their configs.
 */
#ifndef CTL_DOCTOR_DAEMONS_H
#define CTL_DOCTOR_DAEMONS_H

#include <stdbool.h>

struct host;
struct rm_yaml;
struct rm_yaml_node;

extern const char *const daemon_names[]; /* ended by NULL */

/* Its program is in PATH. */
bool daemon_installed(const struct host *host, const char *name);

/* Its config; the caller frees it. NULL: there is none, or it is not YAML. */
struct rm_yaml *daemon_config(const struct host *host, const char *name);
/* The node at "a.b", NULL: not written. */
const struct rm_yaml_node *daemon_config_at(
    const struct rm_yaml *config, const char *name);
/* A scalar there, else fallback. */
const char *daemon_config_text(
    const struct rm_yaml *config, const char *name, const char *fallback);

#endif

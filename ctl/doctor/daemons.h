/*
 * daemons - which daemons of Rackmesh are installed on a host, and their configs.
 */
#ifndef CTL_DOCTOR_DAEMONS_H
#define CTL_DOCTOR_DAEMONS_H

#include <stdbool.h>

struct host;
struct rm_yaml;
struct rm_yaml_node;

extern const char *const daemon_names[]; /* ends with NULL */

/* True: a folder in PATH has the daemon's program. */
bool daemon_installed(const struct host *host, const char *name);

/* Reads the daemon's config, which the caller frees. NULL: there is no config, or it is
 * not YAML. */
struct rm_yaml *daemon_config(const struct host *host, const char *name);
/* The node at "a.b". NULL: the config does not have it. */
const struct rm_yaml_node *daemon_config_at(
    const struct rm_yaml *config, const char *name);
/* The scalar at "a.b"; fallback: the config does not have it. */
const char *daemon_config_text(
    const struct rm_yaml *config, const char *name, const char *fallback);

#endif

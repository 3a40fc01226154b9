#include "ctl/doctor/daemons.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/doctor/host.h"
#include "rackmesh/config/yaml.h"

const char *const daemon_names[] = { "host-agent", "tor-aggregator",
	"region-controller", "analyzer", NULL };

bool
daemon_installed(const struct host *host, const char *name)
{
	const char *path = getenv("PATH");

	if (path == NULL || path[0] == '\0')
		path = "/usr/bin:/usr/sbin:/usr/local/bin";
	while (*path != '\0') {
		int len = (int)strcspn(path, ":");

		if (len > 0 && len < PATH_MAX &&
		    host_exists(host, "%.*s/%s", len, path, name))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

struct rm_yaml *
daemon_config(const struct host *host, const char *name)
{
	struct rm_yaml *config = NULL;
	char path[PATH_MAX];
	int n = snprintf(
	    path, sizeof(path), "%s%s/%s.yaml", host->root, host->configs, name);

	if (n < 0 || n >= PATH_MAX || rm_yaml_load(path, &config, NULL) < 0)
		return NULL;
	return config;
}

const struct rm_yaml_node *
daemon_config_at(const struct rm_yaml *config, const char *name)
{
	const struct rm_yaml_node *node = config == NULL ? NULL : rm_yaml_root(config);

	while (node != NULL && *name != '\0') {
		size_t len = strcspn(name, ".");
		char key[64];

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, name, len);
		key[len] = '\0';
		node = rm_yaml_get(node, key);
		name += len + (name[len] == '.');
	}
	return node;
}

const char *
daemon_config_text(const struct rm_yaml *config, const char *name, const char *fallback)
{
	const struct rm_yaml_node *node = daemon_config_at(config, name);

	return node == NULL || rm_yaml_kind(node) != RM_YAML_SCALAR
		   ? fallback
		   : rm_yaml_text(node);
}

#include "tor-aggregator/hypervisor/hypervisor_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/judge/part.h"

#define AT(field) offsetof(struct hypervisor_config, field)

/* clang-format off */
const struct rm_option hypervisor_options[] = {
	{ "name", RM_STRING, AT(name), NULL, 1, 63, RM_REQUIRED,
	  "name of the ESXi host in metrics and answers", NULL, NULL, 0 },
	{ "address", RM_STRING, AT(address), NULL, 1, 255, RM_REQUIRED,
	  "name or address of the host, as in known_hosts, without a port", NULL, NULL, 0 },
	{ "port", RM_UINT, AT(port), "22", 1, 65535, 0,
	  "port of its SSH server", NULL, NULL, 0 },
	{ "user", RM_STRING, AT(user), "root", 1, 63, 0,
	  "user to log in as; it runs esxcli and vsish", NULL, NULL, 0 },
	{ "key", RM_STRING, AT(key), "/etc/rackmesh/hypervisors.key", 1, 1023, 0,
	  "file with the user's private key (mode 0600), without a passphrase", NULL, NULL, 0 },
	{ "known_hosts", RM_STRING, AT(known_hosts), "/etc/rackmesh/known_hosts", 1, 1023, 0,
	  "file with the host's public key, in the format of ssh; connections to "
	  "hosts with another key are refused", NULL, NULL, 0 },
	{ "interval_s", RM_UINT, AT(interval_s), "60", 5, 3600, 0,
	  "time between two readings of its counters", NULL, NULL, 0 },
	{ "tor", RM_STRING, AT(tor), "", 0, 63, 0,
	  "ToR of the host's rack, one of tors: the host's NICs are judged with the "
	  "RNICs of that rack; \"\": the only ToR, or no rack if there are several "
	  "ToRs", NULL, NULL, 0 },
	{ 0 }
};
/* clang-format on */

int
hypervisor_endpoint(const struct hypervisor_config *config, struct rm_endpoint *ret)
{
	const bool is_v6 = strchr(config->address, ':') != NULL;
	char text[RM_ENDPOINT_TEXT + 2];

	if ((size_t)snprintf(text, sizeof(text), is_v6 ? "[%s]:%u" : "%s:%u",
		config->address, (unsigned)config->port) >= sizeof(text))
		return -EINVAL;
	return rm_endpoint_parse(text, ret);
}

static int
check_one(const struct hypervisor_config *config, size_t at, const char *path,
    struct rm_error *error)
{
	struct rm_endpoint endpoint;

	if (!rm_name_valid(config->name))
		return rm_config_refuse(
		    path, error, RM_NAME_EXPECTED, "hypervisors[%zu].name", at);
	if (hypervisor_endpoint(config, &endpoint) < 0)
		return rm_config_refuse(path, error, "expected a name or an address",
		    "hypervisors[%zu].address", at);
	/* libssh would expand "%" and a relative path. */
	if (config->known_hosts[0] != '/' || strchr(config->known_hosts, '%') != NULL)
		return rm_config_refuse(path, error,
		    "expected the whole path of a file, without a %",
		    "hypervisors[%zu].known_hosts", at);
	return 0;
}

int
hypervisor_check_files(const struct hypervisor_config *config, struct rm_error *error)
{
	if (access(config->known_hosts, R_OK) < 0)
		return rm_error_set(
		    error, -errno, "%s: %s", config->known_hosts, strerror(errno));
	return rm_file_check_secret(config->key, error);
}

int
hypervisors_check(
    const struct rm_list *hypervisors, const char *path, struct rm_error *error)
{
	const struct hypervisor_config *configs = hypervisors->items;
	int r = 0;

	for (size_t i = 0; r == 0 && i < hypervisors->count; i++) {
		r = check_one(&configs[i], i, path, error);
		for (size_t j = 0; r == 0 && j < i; j++)
			if (strcmp(configs[i].name, configs[j].name) == 0)
				r = rm_config_refuse(path, error,
				    "listed twice; remove one", "hypervisors[%zu].name",
				    i);
	}
	return r;
}

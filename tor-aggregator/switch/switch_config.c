#include "tor-aggregator/switch/switch_config.h"

#include <errno.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"

const struct rm_word switch_kinds[] = {
	{ "none", SWITCH_NONE },
	{ "sonic", SWITCH_SONIC },
	{ "nexus", SWITCH_NEXUS },
	{ NULL, 0 },
};

static int
check_login(
    const struct switch_config *config, size_t at, const char *path, struct rm_why *why)
{
	const bool nexus = config->kind == SWITCH_NEXUS;

	if (!nexus && (config->user[0] != '\0' || config->authorities[0] != '\0'))
		return rm_config_refuse(path, why,
		    "switch.user and switch.authorities are of switch.kind: nexus",
		    "tors[%zu]", at);
	if (nexus && (config->user[0] == '\0' || config->password_file[0] == '\0'))
		return rm_config_refuse(path, why,
		    "a Nexus asks for both, switch.user and switch.password_file",
		    "tors[%zu]", at);
	if (strchr(config->user, ':') != NULL)
		return rm_config_refuse(
		    path, why, "expected no ':' in it", "tors[%zu].switch.user", at);
	return 0;
}

int
switch_config_check(
    const struct switch_config *config, size_t at, const char *path, struct rm_why *why)
{
	struct rm_endpoint endpoint;

	if (config->kind == SWITCH_NONE)
		return config->address[0] == '\0'
			   ? 0
			   : rm_config_refuse(path, why,
				 "give switch.kind, too: sonic or nexus", "tors[%zu]",
				 at);
	if (rm_endpoint_parse(config->address, &endpoint) < 0)
		return rm_config_refuse(
		    path, why, RM_ENDPOINT_EXPECTED, "tors[%zu].switch.address", at);
	return check_login(config, at, path, why);
}

int
switch_config_check_files(const struct switch_config *config, struct rm_why *why)
{
	char password[SWITCH_PASSWORD_BYTES];
	int r = 0;

	if (config->kind != SWITCH_NONE && config->password_file[0] != '\0')
		r = rm_file_read_password(
		    config->password_file, password, sizeof(password), why);
	explicit_bzero(password, sizeof(password));
	return r;
}

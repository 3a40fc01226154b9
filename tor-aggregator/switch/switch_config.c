#include "tor-aggregator/switch/switch_config.h"

#include <errno.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"

const struct rm_word switch_kinds[] = {
	{ "none", SWITCH_NONE },
	{ "sonic", SWITCH_SONIC },
	{ NULL, 0 },
};

int
switch_config_check(
    const struct switch_config *config, size_t at, const char *path, struct rm_why *why)
{
	char password[SWITCH_PASSWORD_BYTES];
	struct rm_endpoint endpoint;
	int r = 0;

	if (config->kind == SWITCH_NONE)
		return config->address[0] == '\0'
			   ? 0
			   : rm_config_refuse(path, why, "give switch.kind, too: sonic",
				 "tors[%zu]", at);
	if (rm_endpoint_parse(config->address, &endpoint) < 0)
		return rm_config_refuse(
		    path, why, RM_ENDPOINT_EXPECTED, "tors[%zu].switch.address", at);
	if (config->password_file[0] != '\0')
		r = rm_file_read_password(
		    config->password_file, password, sizeof(password), why);
	explicit_bzero(password, sizeof(password));
	return r;
}

#include "tor-aggregator/switch/config/switch_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/judge/part.h"

const struct rm_enum_name switch_kinds[] = {
	{ "none", SWITCH_NONE },
	{ "sonic", SWITCH_SONIC },
	{ "nexus", SWITCH_NEXUS },
	{ NULL, 0 },
};

const struct rm_enum_name switch_roles[] = {
	{ "tor", SWITCH_ROLE_TOR },
	{ "spine", SWITCH_ROLE_SPINE },
	{ NULL, 0 },
};

#define AT(field) offsetof(struct other_switch_config, field)

/* clang-format off */
const struct rm_option other_switch_options[] = {
	{ "name", RM_STRING, AT(name), NULL, 1, 63, RM_REQUIRED,
	  "name of the switch in metrics and answers", NULL, NULL, 0 },
	{ "role", RM_ENUM, AT(role), "spine", 0, 0, 0,
	  "role of the switch; tor: it is the ToR of another aggregator", switch_roles, NULL, 0 },
	SWITCH_OPTIONS("", struct other_switch_config, reading),
	{ 0 }
};
/* clang-format on */

static int
check_login(const struct switch_config *config, const char *at, const char *path,
    struct rm_error *error)
{
	const bool nexus = config->kind == SWITCH_NEXUS;

	if (!nexus && (config->user[0] != '\0' || config->authorities[0] != '\0'))
		return rm_config_refuse(path, error,
		    "user and authorities of a switch are of kind: nexus", "%s", at);
	if (nexus && (config->user[0] == '\0' || config->password_file[0] == '\0'))
		return rm_config_refuse(path, error,
		    "a Nexus asks for both, user and password_file", "%s", at);
	if (strchr(config->user, ':') != NULL)
		return rm_config_refuse(
		    path, error, "expected no ':' in it", "%s.user", at);
	return 0;
}

/* The address of ASIC i; 0: the first one. */
static const char *
asic_address(const struct switch_config *config, size_t i)
{
	return i == 0 ? config->address : ((char *const *)config->asics.items)[i - 1];
}

static int
check_asics(const struct switch_config *config, const char *at, const char *path,
    struct rm_error *error)
{
	struct rm_endpoint endpoint;

	if (config->kind != SWITCH_SONIC && config->asics.count > 0)
		return rm_config_refuse(path, error,
		    "several ASICs are read only of kind: sonic", "%s.asics", at);
	for (size_t i = 1; i <= config->asics.count; i++) {
		const char *address = asic_address(config, i);

		if (rm_endpoint_parse(address, &endpoint) < 0)
			return rm_config_refuse_value(path, error, RM_ENDPOINT_EXPECTED,
			    address, "%s.asics[%zu]", at, i - 1);
		for (size_t j = 0; j < i; j++)
			if (strcmp(address, asic_address(config, j)) == 0)
				return rm_config_refuse(path, error,
				    "its address is listed twice; remove one",
				    "%s.asics[%zu]", at, i - 1);
	}
	return 0;
}

int
switch_config_check(const struct switch_config *config, const char *at,
    const char *path, struct rm_error *error)
{
	struct rm_endpoint endpoint;
	int r;

	if (config->kind == SWITCH_NONE)
		return config->address[0] == '\0'
			   ? 0
			   : rm_config_refuse(path, error,
				 "give the switch's kind, too: sonic or nexus", "%s",
				 at);
	if (rm_endpoint_parse(config->address, &endpoint) < 0)
		return rm_config_refuse_value(path, error, RM_ENDPOINT_EXPECTED,
		    config->address, "%s.address", at);
	r = check_asics(config, at, path, error);
	return r < 0 ? r : check_login(config, at, path, error);
}

int
other_switches_check(
    const struct rm_list *switches, const char *path, struct rm_error *error)
{
	const struct other_switch_config *configs = switches->items;
	char at[32];

	for (size_t i = 0; i < switches->count; i++) {
		int r;

		snprintf(at, sizeof(at), "switches[%zu]", i);
		if (!rm_name_valid(configs[i].name))
			return rm_config_refuse(
			    path, error, RM_NAME_EXPECTED, "%s.name", at);
		if (configs[i].reading.kind == SWITCH_NONE)
			return rm_config_refuse(path, error,
			    "give the switch's kind: sonic or nexus", "%s", at);
		r = switch_config_check(&configs[i].reading, at, path, error);
		if (r < 0)
			return r;
		for (size_t j = 0; j < i; j++)
			if (strcmp(configs[i].name, configs[j].name) == 0)
				return rm_config_refuse(path, error,
				    "listed twice; remove one", "%s.name", at);
	}
	return 0;
}

int
switch_config_check_files(const struct switch_config *config, struct rm_error *error)
{
	char password[SWITCH_PASSWORD_BYTES];
	int r = 0;

	if (config->kind != SWITCH_NONE && config->password_file[0] != '\0')
		r = rm_file_read_password(
		    config->password_file, password, sizeof(password), error);
	explicit_bzero(password, sizeof(password));
	return r;
}

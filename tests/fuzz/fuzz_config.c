/*
 * Any bytes with a table that has options of all kinds: the result is a config within
 * the limits, or one error. Comparing it with another config finds the options that may
 * not change while a daemon runs.
 */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct port {
	char *name;
	uint64_t speed;
};

struct rnic {
	char *device;
	bool used;
	struct rm_list ports;
};

struct sample {
	uint64_t interval_ms, workers;
	bool enabled;
	char *address;
	int mode;
	struct rm_list peers;
	struct rm_list rnics;
};

#define AT(field) offsetof(struct sample, field)
#define RNIC(field) offsetof(struct rnic, field)
#define PORT(field) offsetof(struct port, field)

/* clang-format off */
static const struct rm_enum_name modes[] = { { "active", 1 }, { "standby", 2 }, { NULL, 0 } };

static const struct rm_option port_options[] = {
	{ "name", RM_STRING, PORT(name), NULL, 1, 4, RM_REQUIRED, "name" },
	{ "speed", RM_UINT, PORT(speed), "100", 1, 1000, RM_RELOAD, "speed" },
	{ 0 }
};

static const struct rm_option rnic_options[] = {
	{ "device", RM_STRING, RNIC(device), NULL, 1, 15, RM_REQUIRED, "device" },
	{ "used", RM_BOOL, RNIC(used), "true", 0, 0, 0, "used" },
	{ "ports", RM_TABLE, RNIC(ports), NULL, 0, 3, 0, "ports",
	  NULL, port_options, sizeof(struct port) },
	{ 0 }
};

static const struct rm_option options[] = {
	{ "probe.interval_ms", RM_UINT, AT(interval_ms), "1000", 10, 60000, RM_RELOAD, "t" },
	{ "probe.enabled", RM_BOOL, AT(enabled), "true", 0, 0, 0, "on" },
	{ "tor.address", RM_STRING, AT(address), "x", 0, 64, RM_SECRET, "where" },
	{ "workers", RM_UINT, AT(workers), "2", 1, 8, 0, "how many" },
	{ "mode", RM_ENUM, AT(mode), "active", 0, 0, 0, "mode", modes },
	{ "peers", RM_LIST, AT(peers), "[a]", 0, 3, 0, "who" },
	{ "rnics", RM_TABLE, AT(rnics), NULL, 0, 4, 0, "rnics",
	  NULL, rnic_options, sizeof(struct rnic) },
	{ 0 }
};
/* clang-format on */

static void
check(const struct sample *config)
{
	const struct rnic *rnics = config->rnics.items;

	if (config->interval_ms < 10 || config->interval_ms > 60000 ||
	    config->mode < 1 || config->mode > 2 || strlen(config->address) > 64 ||
	    config->peers.count > 3 || config->rnics.count > 4)
		abort();
	for (size_t i = 0; i < config->rnics.count; i++) {
		const struct port *ports = rnics[i].ports.items;

		if (rnics[i].device[0] == 0 || rnics[i].ports.count > 3)
			abort();
		for (size_t j = 0; j < rnics[i].ports.count; j++) {
			if (strlen(ports[j].name) > 4 || ports[j].speed > 1000)
				abort();
		}
	}
}

static const char other_text[] =
    "peers: [a, b]\nrnics:\n - {device: d, ports: [{name: p}]}\n - {device: e}\n";

/* The comparison may name either config as the old one, but it must find the
 * difference. */
static void
compare(const struct sample *config, const struct sample *other)
{
	struct rm_error error = { 0 }, back = { 0 };
	size_t waiting;

	if (rm_config_waiting(options, config, config, &error) != 0)
		abort();
	waiting = rm_config_waiting(options, config, other, &error);
	if (waiting != rm_config_waiting(options, other, config, &back) ||
	    (waiting == 0) != (error.text[0] == 0) ||
	    strcmp(error.text, back.text) != 0)
		abort();
	if (waiting == 0 &&
	    (config->workers != other->workers || config->mode != other->mode ||
		config->peers.count != other->peers.count))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct sample zero;
	struct sample config = { 0 }, plain = { 0 }, other = { 0 };
	struct rm_error error = { 0 };

	if (rm_config_parse(options, "f", (const char *)data, len, &config, &error) <
	    0) {
		if (error.text[0] == 0 || memcmp(&config, &zero, sizeof(zero)) != 0)
			abort();
		return 0;
	}
	check(&config);
	if (rm_config_parse(options, "p", "", 0, &plain, &error) < 0 ||
	    rm_config_parse(
		options, "o", other_text, sizeof(other_text) - 1, &other, &error) < 0)
		abort();
	compare(&config, &plain);
	compare(&config, &other);
	rm_config_clear(options, &config);
	rm_config_clear(options, &plain);
	rm_config_clear(options, &other);
	if (memcmp(&config, &zero, sizeof(zero)) != 0)
		abort();
	return 0;
}

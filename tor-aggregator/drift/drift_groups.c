#include "tor-aggregator/drift/drift_groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"

#define AT(field) offsetof(struct drift_group_config, field)

static const struct rm_enum_name trusts[] = {
	{ "any", 0 },
	{ "pcp", 1 + WIRE_TRUST_PCP },
	{ "dscp", 1 + WIRE_TRUST_DSCP },
	{ NULL, 0 },
};

static const struct rm_enum_name fecs[] = {
	{ "any", 0 },
	{ "off", WIRE_FEC_OFF },
	{ "rs", WIRE_FEC_RS },
	{ "baser", WIRE_FEC_BASER },
	{ "llrs", WIRE_FEC_LLRS },
	{ NULL, 0 },
};

static const struct rm_enum_name gid_types[] = {
	{ "any", 0 },
	{ "v1", WIRE_GID_ROCE_V1 },
	{ "v2", WIRE_GID_ROCE_V2 },
	{ "v1+v2", WIRE_GID_ROCE_V1 | WIRE_GID_ROCE_V2 },
	{ NULL, 0 },
};

/* clang-format off */
const struct rm_option drift_group_options[] = {
	{ "rnics", RM_LIST, AT(rnics), NULL, 0, DRIFT_MAX_PATTERNS, 0,
	  "HOST or HOST/DEVICE, by name or by a pattern with * ? [a-c]", NULL, NULL, 0 },
	{ "ports", RM_LIST, AT(ports), NULL, 0, DRIFT_MAX_PATTERNS, 0,
	  "TOR or TOR/PORT: ports of the ToR's switch, by name or by a pattern with * ? [a-c]", NULL, NULL, 0 },
	{ "mtu_bytes", RM_UINT, AT(mtu_bytes), "0", 0, 65535, 0,
	  "MTU of the network device; 0: not compared", NULL, NULL, 0 },
	{ "roce_mtu_bytes", RM_UINT, AT(roce_mtu_bytes), "0", 0, 4096, 0,
	  "active MTU of the RDMA port: 256, 512, 1024, 2048 or 4096; 0: not compared", NULL, NULL, 0 },
	{ "speed_gbps", RM_UINT, AT(speed_gbps), "0", 0, 10000, 0,
	  "speed of the port, in Gb/s; 0: not compared", NULL, NULL, 0 },
	{ "pfc", RM_STRING, AT(pfc), "", 0, 15, 0,
	  "priorities for which PFC is on, such as \"3\" or \"3,4\", or none; \"\": "
	  "not compared", NULL, NULL, 0 },
	{ "firmware", RM_STRING, AT(firmware), "", 0, DRIFT_FIRMWARE_BYTES - 1, 0,
	  "version of the firmware, or a pattern of it; \"\": not compared", NULL, NULL, 0 },
	{ "traffic_class", RM_STRING, AT(traffic_class), "", 0, 4, 0,
	  "traffic class that the driver sets in all RoCE packets, such as \"106\", "
	  "or none; \"\": not compared", NULL, NULL, 0 },
	{ "trust", RM_ENUM, AT(trust), "any", 0, 0, 0,
	  "what decides a packet's priority: its DSCP, or the PCP of its VLAN tag; any: not compared", trusts, NULL, 0 },
	{ "dscp", RM_STRING, AT(dscp), "", 0, DRIFT_TEXT_BYTES - 1, 0,
	  "priorities of DSCPs, at most 8, such as \"26:3,48:6\"; DSCPs that are not listed, and \"\": not compared", NULL, NULL, 0 },
	{ "fec", RM_ENUM, AT(fec), "any", 0, 0, 0,
	  "active FEC of the port: off, RS, BASE-R or low-latency RS; any: not compared", fecs, NULL, 0 },
	{ "gid_types", RM_ENUM, AT(gid_types), "any", 0, 0, 0,
	  "RoCE versions of the port's GIDs: only v1, only v2, or both; any: not compared", gid_types, NULL, 0 },
	{ 0 }
};
/* clang-format on */

struct pattern {
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES]; /* device "": any */
	bool port;                                       /* of a switch */
	size_t group;
};

struct drift_groups {
	struct drift_settings *expected; /* one per group */
	struct pattern *patterns;        /* patterns of all groups, in order */
	size_t count, pattern_count;
};

/* "HOST" or "HOST/DEVICE". */
static bool
read_pattern(const char *text, struct pattern *ret)
{
	const char *slash = strchr(text, '/');
	const size_t len = slash == NULL ? strlen(text) : (size_t)(slash - text);

	if (len >= sizeof(ret->host) ||
	    (slash != NULL && strlen(slash + 1) >= sizeof(ret->device)))
		return false;
	memcpy(ret->host, text, len);
	ret->host[len] = '\0';
	strcpy(ret->device, slash == NULL ? "" : slash + 1);
	return rm_name_pattern_valid(ret->host) &&
	       (slash == NULL || rm_name_pattern_valid(ret->device));
}

static int
check_patterns(const struct rm_list *list, const char *key, const char *wanted,
    size_t at, const char *path, struct rm_error *error)
{
	char *const *texts = list->items;
	struct pattern pattern;

	for (size_t i = 0; i < list->count; i++)
		if (!read_pattern(texts[i], &pattern))
			return rm_config_refuse(
			    path, error, wanted, "expected[%zu].%s[%zu]", at, key, i);
	return 0;
}

static int
check_group(const struct drift_group_config *group, size_t at, const char *path,
    struct rm_error *error)
{
	const uint64_t mtu = group->roce_mtu_bytes;
	uint8_t dscps[WIRE_DSCPS];
	uint32_t mask; /* a bit mask, or a number that is only compared */
	int r = check_patterns(&group->rnics, "rnics",
	    "expected HOST or HOST/DEVICE, by name or by a pattern with * ? [a-c]", at,
	    path, error);

	if (r == 0)
		r = check_patterns(&group->ports, "ports",
		    "expected TOR or TOR/PORT, by name or by a pattern with * ? [a-c]",
		    at, path, error);
	if (r < 0)
		return r;
	if (group->rnics.count + group->ports.count == 0)
		return rm_config_refuse(
		    path, error, "expected rnics or ports", "expected[%zu]", at);
	if (mtu != 0 && (mtu < 256 || (mtu & (mtu - 1)) != 0))
		return rm_config_refuse(path, error,
		    "expected 256, 512, 1024, 2048 or 4096",
		    "expected[%zu].roce_mtu_bytes", at);
	if (group->pfc[0] != '\0' && drift_pfc_read(group->pfc, &mask) < 0)
		return rm_config_refuse(path, error,
		    "expected none, or priorities from 0 to 7: 3 or \"3,4\"",
		    "expected[%zu].pfc", at);
	if (group->traffic_class[0] != '\0' &&
	    drift_class_read(group->traffic_class, &mask) < 0)
		return rm_config_refuse(path, error,
		    "expected none, or a number from 0 to 255",
		    "expected[%zu].traffic_class", at);
	if (group->dscp[0] != '\0' && drift_dscps_read(group->dscp, dscps) < 0)
		return rm_config_refuse(path, error,
		    "expected DSCP:PRIORITY, at most 8: \"26:3,48:6\"",
		    "expected[%zu].dscp", at);
	if (group->firmware[0] != '\0' && !rm_name_pattern_valid(group->firmware))
		return rm_config_refuse(path, error,
		    "expected a version, or a pattern of it: \"28.39.*\"",
		    "expected[%zu].firmware", at);
	return 0;
}

int
drift_groups_check(
    const struct rm_list *groups, const char *path, struct rm_error *error)
{
	const struct drift_group_config *all = groups->items;
	int r = 0;

	for (size_t i = 0; r == 0 && i < groups->count; i++)
		r = check_group(&all[i], i, path, error);
	return r;
}

static void
declare(struct drift_settings *settings, enum wire_setting setting, uint64_t number)
{
	if (number == 0)
		return;
	settings->known |= UINT32_C(1) << setting;
	settings->numbers[setting] = (uint32_t)number;
}

static void
fill_group(struct drift_settings *ret, const struct drift_group_config *from)
{
	declare(ret, WIRE_SETTING_MTU, from->mtu_bytes);
	declare(ret, WIRE_SETTING_ROCE_MTU, from->roce_mtu_bytes);
	declare(ret, WIRE_SETTING_SPEED, from->speed_gbps * 1000);
	if (drift_pfc_read(from->pfc, &ret->numbers[WIRE_SETTING_PFC]) == 0)
		ret->known |= UINT32_C(1) << WIRE_SETTING_PFC;
	if (drift_class_read(
		from->traffic_class, &ret->numbers[WIRE_SETTING_TRAFFIC_CLASS]) == 0)
		ret->known |= UINT32_C(1) << WIRE_SETTING_TRAFFIC_CLASS;
	declare(ret, WIRE_SETTING_FEC, (uint64_t)from->fec);
	declare(ret, WIRE_SETTING_GID_TYPES, (uint64_t)from->gid_types);
	memset(ret->dscps, WIRE_NO_PRIORITY, sizeof(ret->dscps));
	if (drift_dscps_read(from->dscp, ret->dscps) == 0)
		ret->known |= UINT32_C(1) << WIRE_SETTING_DSCPS;
	if (from->trust != 0) {
		ret->known |= UINT32_C(1) << WIRE_SETTING_TRUST;
		ret->numbers[WIRE_SETTING_TRUST] = (uint32_t)from->trust - 1;
	}
	if (from->firmware[0] == '\0')
		return;
	ret->known |= UINT32_C(1) << WIRE_SETTING_FIRMWARE;
	snprintf(ret->firmware, sizeof(ret->firmware), "%s", from->firmware);
}

static void
add_patterns(
    struct drift_groups *groups, const struct rm_list *list, size_t group, bool port)
{
	char *const *texts = list->items;

	for (size_t i = 0; i < list->count; i++) {
		struct pattern *pattern = &groups->patterns[groups->pattern_count];

		pattern->group = group;
		pattern->port = port;
		groups->pattern_count += read_pattern(texts[i], pattern);
	}
}

int
drift_groups_new(const struct rm_list *groups, struct drift_groups **ret)
{
	const struct drift_group_config *all = groups->items;
	struct drift_groups *made = calloc(1, sizeof(*made));
	size_t patterns = 0;

	for (size_t i = 0; i < groups->count; i++)
		patterns += all[i].rnics.count + all[i].ports.count;
	if (made == NULL)
		return -ENOMEM;
	made->expected = calloc(groups->count + 1, sizeof(*made->expected));
	made->patterns = calloc(patterns + 1, sizeof(*made->patterns));
	if (made->expected == NULL || made->patterns == NULL) {
		drift_groups_free(made);
		return -ENOMEM;
	}
	for (size_t i = 0; i < groups->count; i++) {
		fill_group(&made->expected[i], &all[i]);
		add_patterns(made, &all[i].rnics, i, false);
		add_patterns(made, &all[i].ports, i, true);
	}
	made->count = groups->count;
	*ret = made;
	return 0;
}

void
drift_groups_free(struct drift_groups *groups)
{
	if (groups == NULL)
		return;
	free(groups->expected);
	free(groups->patterns);
	free(groups);
}

size_t
drift_groups_count(const struct drift_groups *groups)
{
	return groups->count;
}

static void
add_missing(struct drift_settings *ret, const struct drift_settings *from)
{
	const uint32_t fresh = from->known & ~ret->known;

	for (unsigned i = 0; i < WIRE_SETTINGS; i++)
		if ((fresh >> i & 1) != 0)
			ret->numbers[i] = from->numbers[i];
	if ((fresh >> WIRE_SETTING_FIRMWARE & 1) != 0)
		memcpy(ret->firmware, from->firmware, sizeof(ret->firmware));
	if ((fresh >> WIRE_SETTING_DSCPS & 1) != 0)
		memcpy(ret->dscps, from->dscps, sizeof(ret->dscps));
	ret->known |= fresh;
}

void
drift_groups_find(const struct drift_groups *groups, bool port, const char *host,
    const char *device, struct drift_settings *ret)
{
	*ret = (struct drift_settings){ 0 };
	for (size_t i = 0; i < groups->pattern_count; i++) {
		const struct pattern *pattern = &groups->patterns[i];

		if (pattern->port == port && rm_name_matches(host, pattern->host) &&
		    (pattern->device[0] == '\0' ||
			rm_name_matches(device, pattern->device)))
			add_missing(ret, &groups->expected[pattern->group]);
	}
}

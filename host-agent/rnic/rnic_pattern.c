#include "host-agent/rnic/rnic_pattern.h"

#include <fnmatch.h>
#include <string.h>

bool
rnic_pattern_is(const char *device)
{
	return strcmp(device, "auto") == 0 || strpbrk(device, "*?[") != NULL;
}

static bool
matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

bool
rnic_pattern_matches(const struct rnic_pattern *pattern, const char *device,
    const char *netdev, const char *driver)
{
	if (strcmp(pattern->device, "auto") != 0 && !matches(pattern->device, device))
		return false;
	if (pattern->driver != NULL && !matches(pattern->driver, driver))
		return false;
	if (pattern->netdev != NULL && !matches(pattern->netdev, netdev))
		return false;
	for (size_t i = 0; i < pattern->except_count; i++) {
		if (matches(pattern->except[i], device) ||
		    matches(pattern->except[i], netdev))
			return false;
	}
	return true;
}

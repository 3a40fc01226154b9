#include <string.h>

#include "ctl/client/ctl.h"

const char *
ctl_tier(const struct ctl *ctl, const char *tier)
{
	if (strcmp(tier, "aggregator") == 0)
		return ctl->aggregator;
	if (strcmp(tier, "controller") == 0)
		return ctl->controller;
	if (strcmp(tier, "analyzer") == 0)
		return ctl->analyzer;
	return NULL;
}

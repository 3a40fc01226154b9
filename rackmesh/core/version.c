#include "rackmesh/core/version.h"

#include <string.h>

bool
rm_version_valid(const char *version)
{
	size_t len = strspn(version, "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~:_-");

	return len > 0 && len < RM_VERSION_BYTES && version[len] == '\0';
}

void
rm_version_take(char out[RM_VERSION_BYTES], const char *version)
{
	if (rm_version_valid(version))
		strcpy(out, version);
	else
		out[0] = '\0';
}

const char *
rm_version_show(const char *version)
{
	return version[0] != '\0' ? version : "unknown";
}

#include "rackmesh/identity/sight.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/http/http_handler.h"

void
rm_sight_of(struct rm_sight *sight, const struct rm_http_request *request)
{
	const char *uri = rm_http_identity(request);
	struct rm_identity who;

	sight->asked = rm_http_query(request, "region");
	snprintf(sight->regions, sizeof(sight->regions), "*");
	if (uri[0] == '\0')
		return;
	/* An identity that cannot be parsed was refused earlier. If it was not, nothing
	 * is shown to it. */
	if (rm_identity_parse(uri, &who) < 0)
		who.region[0] = '\0';
	memcpy(sight->regions, who.region, sizeof(sight->regions));
}

bool
rm_sight_shows(const struct rm_sight *sight, const char *region)
{
	if (sight == NULL)
		return true;
	return (sight->asked == NULL || strcmp(sight->asked, region) == 0) &&
	       rm_identity_is_of(sight->regions, region);
}

bool
rm_sight_is_limited(const struct rm_sight *sight)
{
	return strcmp(sight->regions, "*") != 0;
}

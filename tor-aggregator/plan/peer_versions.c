#include "tor-aggregator/plan/peer_versions.h"

#include <string.h>

static struct peer_version *
find(struct peer_versions *versions, enum wire_component component, const char *name)
{
	for (size_t i = 0; i < versions->count; i++)
		if (versions->peers[i].component == component &&
		    strcmp(versions->peers[i].name, name) == 0)
			return &versions->peers[i];
	return NULL;
}

void
peer_versions_receive(struct peer_versions *versions, enum wire_component component,
    const struct wire_welcome *welcome, bool connected, rm_wall_t now)
{
	char software[RM_VERSION_BYTES];
	struct peer_version *peer;

	if (!rm_name_valid(welcome->id))
		return;
	rm_version_take(software, welcome->software);
	peer = find(versions, component, welcome->id);
	if (peer == NULL && versions->count == PEER_VERSIONS_MAX) {
		versions->dropped++;
		return;
	}
	if (peer == NULL) {
		peer = &versions->peers[versions->count++];
		*peer = (struct peer_version){ .component = component, .since = now };
		strcpy(peer->name, welcome->id);
		strcpy(peer->software, software);
	}
	peer->connected = connected;
	if (strcmp(peer->software, software) == 0)
		return;
	strcpy(peer->software, software);
	peer->since = now;
}

void
peer_versions_gone(
    struct peer_versions *versions, enum wire_component component, const char *name)
{
	struct peer_version *peer = find(versions, component, name);

	if (peer != NULL)
		peer->connected = false;
}

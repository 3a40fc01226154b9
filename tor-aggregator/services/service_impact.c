#include "tor-aggregator/services/service_impact.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/services/service_table.h"

#define MAX_NAMES 4
#define MORE ", ..."

struct names {
	const struct service_flow *of[MAX_NAMES]; /* one flow of each service */
	size_t count;
	bool more;
};

static bool
is_same(struct wire_rnic_id id, struct rm_rnic_id rnic)
{
	return id.guid == rnic.guid && id.port == rnic.port;
}

static void
note_name(struct names *names, const struct service_flow *flow)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->of[i]->service, flow->service) == 0)
			return;
	if (names->count == MAX_NAMES)
		names->more = true;
	else
		names->of[names->count++] = flow;
}

static void
find_users(
    const struct service_table *table, struct rm_rnic_id rnic, struct names *names)
{
	const struct service_host *host = NULL;

	while ((host = service_table_next(table, host)) != NULL)
		for (size_t i = 0; i < host->flow_count; i++)
			if (is_same(host->flows[i].src, rnic) ||
			    is_same(host->flows[i].dst, rnic))
				note_name(names, &host->flows[i]);
}

/* "pod:UID (namespace/name), unit:b, ...": complete names, as many as there is room
 * for. */
static void
write_names(const struct names *names, char out[RM_EVIDENCE_TEXT])
{
	bool more = names->more;
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < names->count; i++) {
		const struct service_flow *of = names->of[i];
		const char *pod = of->pod;
		char name[SERVICE_NAME_BYTES + SERVICE_POD_BYTES + 8];
		size_t len;

		snprintf(name, sizeof(name), "%s%s%s%s%s", i > 0 ? ", " : "",
		    of->service, pod[0] == '\0' ? "" : " (", pod,
		    pod[0] == '\0' ? "" : ")");
		len = strlen(name);
		if (at + len + sizeof(MORE) > RM_EVIDENCE_TEXT) {
			more = true;
			break;
		}
		memcpy(out + at, name, len + 1);
		at += len;
	}
	if (more)
		snprintf(out + at, RM_EVIDENCE_TEXT - at, "%s", MORE);
}

void
service_impact_fill(
    const struct service_table *table, const char *host, struct rm_verdict *verdict)
{
	struct rm_evidence *evidence = &verdict->evidence;
	const struct service_host *own = service_table_find(table, host);
	struct names names = { 0 };

	if (verdict->part.type != RM_PART_RNIC || verdict->rnic.guid == 0)
		return;
	find_users(table, verdict->rnic, &names);
	write_names(&names, evidence->services);
	if (names.count > 0)
		evidence->impact =
		    evidence->service_probes.arrived < evidence->service_probes.sent
			? RM_IMPACT_P0
			: RM_IMPACT_P1;
	else if (own != NULL && own->tracing && own->gone.ns == 0)
		evidence->impact = RM_IMPACT_P2;
	else
		evidence->impact = RM_IMPACT_UNKNOWN;
}

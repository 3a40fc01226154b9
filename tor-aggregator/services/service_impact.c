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

/* Adds the name in alphabetical order. Hosts report names in any order, and a change of
 * the order would look like a change of the incident. */
static void
note_name(struct names *names, const struct service_flow *flow)
{
	size_t at = 0;

	for (; at < names->count; at++) {
		const int order = strcmp(names->of[at]->service, flow->service);

		if (order == 0)
			return;
		if (order > 0)
			break;
	}
	names->more |= names->count == MAX_NAMES;
	if (at == MAX_NAMES)
		return;
	names->count += names->count < MAX_NAMES;
	memmove(&names->of[at + 1], &names->of[at],
	    (names->count - at - 1) * sizeof(names->of[0]));
	names->of[at] = flow;
}

static void
find_users(const struct service_table *table, const struct service_impact *of,
    struct names *names)
{
	const struct service_host *host = NULL;

	while ((host = service_table_next(table, host)) != NULL)
		for (size_t i = 0; i < host->flow_count; i++)
			if (of->is_on(host->flows[i].src, of->arg) ||
			    of->is_on(host->flows[i].dst, of->arg))
				note_name(names, &host->flows[i]);
}

/* Writes "pod:UID (namespace/name), unit:b, ...". Names that do not fit completely are
 * left out. */
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

bool
service_impact_traced(const struct service_table *table, const char *host)
{
	const struct service_host *of = service_table_find(table, host);

	return of != NULL && of->tracing && of->gone.ns == 0;
}

void
service_impact_fill(const struct service_table *table, const struct service_impact *of,
    struct rm_verdict *verdict)
{
	struct rm_evidence *evidence = &verdict->evidence;
	const struct rm_leg_counts *probes = &evidence->service_probes;
	struct names names = { 0 };

	if (verdict->part.type == RM_PART_AGENT) {
		evidence->impact = RM_IMPACT_P2;
		return;
	}
	find_users(table, of, &names);
	write_names(&names, evidence->services);
	if (names.count > 0)
		evidence->impact = of->lost || probes->arrived < probes->sent
				       ? RM_IMPACT_P0
				       : RM_IMPACT_P1;
	else
		evidence->impact = of->traced ? RM_IMPACT_P2 : RM_IMPACT_UNKNOWN;
}

#include <stdio.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

static const struct column columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "DEVICE", "device", COLUMN_TEXT },
	{ "TOR", "tor", COLUMN_TEXT },
	{ "HEALTH", "health", COLUMN_TEXT },
	{ "TRANSPORT", "transport", COLUMN_TEXT },
	{ "LINK", "link", COLUMN_TEXT },
	{ ">QPN", "qpn", COLUMN_NUMBER },
	{ ">SENT", "sent", COLUMN_NUMBER },
	{ ">LOST", "lost", COLUMN_NUMBER },
	{ ">RTT P50 us", "rtt_ns.p50", COLUMN_US },
	{ ">P99 us", "rtt_ns.p99", COLUMN_US },
	{ ">RESPONDER P99 us", "responder_delay_ns.p99", COLUMN_US },
	{ "ID", "id", COLUMN_TEXT },
	{ "ADDRESSES", "addresses", COLUMN_LIST },
	{ 0 },
};

/* The columns for one host, from its agent: the addresses and the transport of each
 * RNIC's probes. */
static const struct column agent_columns[] = {
	{ "DEVICE", "device", COLUMN_TEXT },
	{ "TRANSPORT", "transport", COLUMN_TEXT },
	{ "RDMA", "rdma.device", COLUMN_TEXT },
	{ "NETDEV", "netdev", COLUMN_TEXT },
	{ "UP", "up", COLUMN_YES },
	{ "LINK", "link", COLUMN_TEXT },
	{ "STAMPS", "stamps", COLUMN_TEXT },
	{ "FLOWS", "flows", COLUMN_TEXT },
	{ ">FLOW QPS", "rdma.flow_qps", COLUMN_NUMBER },
	{ ">QPN", "rdma.qpn", COLUMN_NUMBER },
	{ "AUTHENTICATED", "authenticated", COLUMN_YES },
	{ ">KEY EPOCH", "reflector.key_epoch", COLUMN_NUMBER },
	{ "ID", "id", COLUMN_TEXT },
	{ "ADDRESSES", "addresses", COLUMN_LIST },
	{ 0 },
};

static void
print_slowed(const json_t *answer)
{
	const char *reason = json_string_value(json_object_get(answer, "slowed"));
	long long permille =
	    json_integer_value(json_object_get(answer, "slowed_permille"));

	if (reason != NULL && strcmp(reason, "none") != 0)
		printf("slowed: %s: %lld of 1000 probes are sent\n", reason, permille);
}

static int
rnics_of_agent(const struct ctl *ctl)
{
	json_t *answer = NULL;
	const json_t *rnic;
	int status;
	size_t i;

	if (ctl->argc > 0)
		return ctl_usage("expected: rnics, without more, of an agent");
	status =
	    show_list(ctl, ctl->agent, "/v1/rnics", "rnics", agent_columns, &answer);
	if (status != CTL_GOOD)
		return status;
	if (!ctl->json)
		print_slowed(answer);
	json_array_foreach (json_object_get(answer, "rnics"), i, rnic) {
		const char *link = json_string_value(json_object_get(rnic, "link"));

		if (!json_is_true(json_object_get(rnic, "up")) ||
		    (link != NULL && strcmp(link, "down") == 0))
			status = CTL_PROBLEM;
	}
	json_decref(answer);
	return status;
}

/* An RNIC whose state is unknown does not count as good. */
static bool
is_good(const json_t *rnic)
{
	const char *health = json_string_value(json_object_get(rnic, "health"));

	return health != NULL && strcmp(health, "good") == 0;
}

int
ctl_rnics(const struct ctl *ctl)
{
	if (ctl->through != NULL && strcmp(ctl->through, "agent") == 0)
		return rnics_of_agent(ctl);
	if (ctl->through != NULL && strcmp(ctl->through, "aggregator") != 0)
		return ctl_usage("--through: expected aggregator or agent");
	return show_list_of_tor(ctl, "rnics", columns, is_good);
}

#include <stdbool.h>
#include <stdio.h>

#include "ctl/client/ctl.h"
#include "ctl/client/query.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"

#define LIMIT 1000 /* the daemon's limit for NICs */

static const struct column columns[] = {
	{ "HOST", "host", COLUMN_TEXT },
	{ "NIC", "nic", COLUMN_TEXT },
	{ "COUNTER", "name", COLUMN_TEXT },
	{ ">PRIORITY", "priority", COLUMN_NUMBER },
	{ ">TOTAL", "total", COLUMN_NUMBER },
	{ ">LAST", "delta", COLUMN_NUMBER },
	{ "UNIT", "unit", COLUMN_TEXT },
	{ 0 },
};

static const char *
text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value == NULL ? "?" : value;
}

/* False: a reading has a problem. */
static bool
add_nic(const struct query *query, json_t *rows, const json_t *host, const json_t *nic)
{
	const json_t *findings = json_object_get(nic, "findings"), *each;
	size_t i;

	json_array_foreach (findings, i, each) {
		if (query->json)
			break;
		printf("%s: %s: %s\n", text(host, "host"), text(each, "finding"),
		    text(each, "text"));
	}
	json_array_foreach (json_object_get(nic, "counters"), i, each) {
		json_t *row = show_counter(each);

		json_object_set(row, "host", json_object_get(host, "host"));
		json_object_set(row, "nic", json_object_get(nic, "nic"));
		json_array_append_new(rows, row);
	}
	return json_array_size(findings) == 0;
}

static bool
add_host(const struct query *query, json_t *rows, const json_t *host)
{
	const json_t *nic;
	char what[128];
	bool well;
	size_t i;

	snprintf(what, sizeof(what), "hypervisor %s", text(host, "host"));
	well = show_reading(what, host);
	json_array_foreach (json_object_get(host, "nics"), i, nic)
		well = add_nic(query, rows, host, nic) && well;
	return well;
}

static int
show(const json_t *answer, const struct query *query)
{
	const json_t *hosts = json_object_get(answer, "hypervisors"), *each;
	json_t *rows;
	bool well = true;
	size_t i;
	int r;

	if (json_array_size(hosts) == 0) {
		fprintf(stderr, "rackmeshctl: the aggregator does not read this ESXi "
				"host: see hypervisors[] in its config\n");
		well = query->filters[0] == NULL;
	}
	if (json_integer_value(json_object_get(answer, "nic_count")) > LIMIT)
		fprintf(stderr,
		    "rackmeshctl: only the first %d NICs are shown: name the host\n",
		    LIMIT);
	rows = json_array();
	json_array_foreach (hosts, i, each)
		well = add_host(query, rows, each) && well;
	if (query->filters[1] != NULL && well &&
	    json_integer_value(json_object_get(answer, "nic_count")) == 0) {
		fprintf(stderr, "rackmeshctl: hypervisor %s has no NIC %s\n",
		    query->filters[0], query->filters[1]);
		well = false;
	}
	r = query_rows(query, columns, rows);
	json_decref(rows);
	return r == CTL_GOOD && !well ? CTL_PROBLEM : r;
}

int
ctl_hypervisors(const struct ctl *ctl)
{
	struct query query = { "/v1/hypervisors", "hypervisors", LIMIT,
		{ "host", "nic" } };

	return query_arguments(&query, ctl, "hypervisors [HOST [NIC]] [--all]")
		   ? query_show(&query, ctl, ctl->aggregator, show)
		   : CTL_USAGE;
}

/* Makes the plan of every ToR from the fabric, with the controller's own modules. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology.h"
#include "region-controller/plan/plan.h"
#include "region-controller/registry/registry.h"
#include "tests/sim/run_state.h"

#define UDP_PORT 862
#define UDP_MTU 4200
#define ROCE_MTU 4096
#define QPN 0x100
#define LARGE_QPN 0x800000

struct wire_rnic
run_rnic(const struct run *run, uint32_t rnic, bool link_down, struct run_names *names)
{
	const bool verbs = run->draw.probing[PROBING_VERBS] != 0;
	char name[RM_PART_NAME_BYTES], address[16];
	struct wire_rnic ret = {
		.id = { .guid = RUN_GUID + rnic },
		.host = names->host,
		.device = names->device,
		.driver = "sim",
		.tors = { names->tor },
		.tor_count = 1,
		.plane = "",
		.address_count = 1,
		.qpn = verbs ? QPN + rnic : 0,
		.large_qpn = verbs ? LARGE_QPN + rnic : 0,
		.mtu_bytes = verbs ? ROCE_MTU : UDP_MTU,
		.incarnation = run->host[run_host_of(run, rnic)].incarnation,
		.link = link_down ? WIRE_LINK_DOWN : WIRE_LINK_UP,
	};

	clos_name(run->clos, rnic, name);
	snprintf(
	    names->host, sizeof names->host, "%.*s", (int)strcspn(name, "/"), name);
	snprintf(names->device, sizeof names->device, "%.60s",
	    name + strcspn(name, "/") + 1);
	clos_name(run->clos, clos_part(run->clos, rnic)->to, name);
	snprintf(names->tor, sizeof names->tor, "%.63s", name);
	clos_address(run->clos, rnic, address);
	ret.addresses[0].family = 4;
	ret.addresses[0].port = verbs ? WIRE_ROCE_PORT : UDP_PORT;
	inet_pton(AF_INET, address, ret.addresses[0].bytes);
	return ret;
}

static int
read_topology(struct run *run, struct rm_topology **ret, struct rm_error *error)
{
	json_t *json = clos_topology(run->clos);
	char *text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT);
	int r = -ENOMEM;

	json_decref(json);
	if (text != NULL)
		r = rm_topology_parse("fabric", text, strlen(text), ret, error);
	free(text);
	return r;
}

static int
report_registry(struct run *run, struct registry *registry, struct rm_error *error)
{
	enum registry_refusal refusal = REGISTRY_PLACED;

	for (uint32_t i = 0; i < run->rnics; i++) {
		struct run_names names;
		const struct wire_rnic rnic = run_rnic(run, i, false, &names);
		const struct registry_source source = { .host = names.host,
			.aggregator = "sim",
			.session = 1,
			.now = { RUN_MONO_NS },
			.wall = { RUN_WALL_NS } };
		const int r = registry_report(registry, &rnic, &source, &refusal);

		if (r < 0 || refusal != REGISTRY_PLACED)
			return rm_error_set(error, r < 0 ? r : -EINVAL,
			    "the registry refuses %s/%s: %s", names.host, names.device,
			    registry_refusal_str(refusal));
	}
	return 0;
}

static struct plan_options
options_of(const struct run *run)
{
	const double *p = run->draw.probing;

	return (struct plan_options){
		.mesh_peers = (uint32_t)p[PROBING_TOR_MESH_SIZE],
		.mesh_interval_ms = (uint32_t)p[PROBING_MESH_INTERVAL_MS],
		.mesh_max_rate_per_s = (uint32_t)p[PROBING_MESH_MAX_RATE_PER_S],
		.mesh_rotation_s = (uint32_t)p[PROBING_ROTATION_S],
		.coverage = p[PROBING_COVERAGE_PERMILLE] / 1000,
		.link_rate_per_s = (uint32_t)p[PROBING_LINK_RATE_PER_S],
		.inter_max_rate_per_s = (uint32_t)p[PROBING_INTER_TOR_MAX_RATE_PER_S],
		.destinations = (uint32_t)p[PROBING_INTER_TOR_DESTINATIONS],
		.assumed_paths = (uint32_t)p[PROBING_ASSUMED_PATHS],
		.pair_above_ms = (uint32_t)p[PROBING_PAIR_ABOVE_MS],
		.witness_below = (uint32_t)p[PROBING_WITNESS_BELOW],
		.witness_targets = (uint32_t)p[PROBING_WITNESS_TARGETS],
		.witness_interval_ms = (uint32_t)p[PROBING_WITNESS_INTERVAL_MS],
		.dscp = (uint8_t)p[PROBING_DSCP],
		.dscp_best_effort = (uint8_t)p[PROBING_DSCP_BEST_EFFORT],
		.sl = (uint8_t)p[PROBING_SERVICE_LEVEL],
	};
}

static int
keep_plan(struct run *run, const struct plan_set *set, size_t i, struct rm_error *error)
{
	const uint32_t tor = clos_find(run->clos, plan_set_tor(set, i));
	struct sim_rack *rack = &run->rack[tor - clos_first(run->clos, CLOS_TOR)];
	struct wire_bytes bytes;
	int r = plan_set_write(set, i, 1, 1, run->writer, &bytes);

	if (r < 0)
		return rm_error_set(error, r, "the plan of %s", plan_set_tor(set, i));
	rack->plan = malloc(bytes.len);
	if (rack->plan == NULL)
		return -ENOMEM;
	memcpy(rack->plan, bytes.data, bytes.len);
	rack->plan_len = bytes.len;
	return wire_open_plan(&rack->view, rack->plan, bytes.len);
}

int
plans_make(struct run *run, struct rm_error *error)
{
	const struct plan_options options = options_of(run);
	struct rm_topology *topology = NULL;
	struct registry *registry = NULL;
	struct plan_set *set = NULL;
	int r;

	r = read_topology(run, &topology, error);
	if (r == 0)
		r = registry_new(&registry);
	if (r == 0)
		r = registry_set_topology(registry, topology);
	if (r >= 0)
		r = report_registry(run, registry, error);
	if (r == 0)
		r = plan_set_new(topology, registry, &options, &set);
	for (size_t i = 0; r == 0 && i < plan_set_count(set); i++)
		r = keep_plan(run, set, i, error);
	plan_set_free(set);
	registry_free(registry);
	rm_topology_free(topology);
	return r;
}

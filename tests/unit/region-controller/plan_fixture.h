/*
 * plan_fixture - makes the plans of a region, writes and opens them, and checks what
 * must hold for every plan.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_REGION_CONTROLLER_PLAN_FIXTURE_H
#define TESTS_UNIT_REGION_CONTROLLER_PLAN_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology_paths.h"
#include "region-controller/plan/plan.h"
#include "region.h"

#define MAX_RACKS 128

struct fixture {
	struct rm_topology *topology;
	struct registry *registry;
	struct plan_options options;
	struct plan_set *set;
	struct wire_writer *writers[MAX_RACKS]; /* own the memory of `bytes` */
	struct wire_plan_view views[MAX_RACKS];
	struct wire_bytes bytes[MAX_RACKS];
};

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || registry_new(&f->registry) < 0)
		return -1;
	f->options = plan_defaults;
	*state = f;
	return 0;
}

static inline void
drop_plans(struct fixture *f)
{
	for (size_t i = 0; i < MAX_RACKS; i++) {
		wire_writer_free(f->writers[i]);
		f->writers[i] = NULL;
	}
	plan_set_free(f->set);
	f->set = NULL;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	drop_plans(f);
	registry_free(f->registry);
	rm_topology_free(f->topology);
	free(f);
	return 0;
}

/* Takes the topology. */
static inline void
set_topology(struct fixture *f, struct rm_topology *topology)
{
	f->topology = topology;
	assert_int_equal(registry_set_topology(f->registry, topology), 0);
}

/* Checks an entry for what must hold in the plans of every region. */
static inline void
check_entry(const struct wire_plan_view *view, const struct wire_plan_entry *entry)
{
	struct wire_rnic src, dst;
	bool common = false;

	wire_plan_member(view, entry->src, &src);
	wire_plan_remote(view, entry->dst, &dst);
	assert_string_not_equal(src.host, dst.host);
	assert_string_equal(src.plane, dst.plane);
	assert_int_equal(src.qpn != 0, dst.qpn != 0);
	assert_true(dst.address_count > 0);
	for (size_t i = 0; i < src.address_count; i++) {
		for (size_t k = 0; k < dst.address_count; k++)
			common |= src.addresses[i].family == dst.addresses[k].family;
	}
	assert_true(common);
	assert_true(entry->flow_count > 0);
	assert_true(entry->flow_count == 1 ||
		    (entry->flow_count % 2 != 0 && entry->flow_count % 3 != 0));
	for (size_t i = 0; i < entry->flow_count; i++) {
		assert_in_range(entry->flows[i], PLAN_PORT_BASE,
		    PLAN_PORT_BASE + PLAN_PORT_COUNT - 1);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(entry->flows[i], entry->flows[k]);
	}
	assert_in_range(entry->interval_us, PLAN_MIN_INTERVAL_US, PLAN_MAX_INTERVAL_US);
	if (entry->kind == WIRE_INTER_TOR)
		assert_int_equal(entry->paired, entry->interval_us > 600000);
}

static inline void
check_view(const struct wire_plan_view *view)
{
	for (size_t i = 0; i < view->plan.member_count; i++) {
		struct wire_rnic rnic, before;

		wire_plan_member(view, i, &rnic);
		if (i == 0)
			continue;
		wire_plan_member(view, i - 1, &before);
		assert_true(before.id.guid < rnic.id.guid);
	}
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry, other;

		wire_plan_entry(view, i, &entry);
		check_entry(view, &entry);
		for (size_t k = 0; k < i && i < 64; k++) {
			wire_plan_entry(view, k, &other);
			assert_false(entry.src == other.src && entry.dst == other.dst &&
				     entry.kind == other.kind);
		}
	}
}

static inline void
plan(struct fixture *f)
{
	drop_plans(f);
	assert_int_equal(
	    plan_set_new(f->topology, f->registry, &f->options, &f->set), 0);
	assert_true(plan_set_count(f->set) <= MAX_RACKS);
	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		f->writers[i] = wire_writer_new();
		assert_non_null(f->writers[i]);
		assert_int_equal(
		    plan_set_write(f->set, i, 0, 0, f->writers[i], &f->bytes[i]), 0);
		assert_int_equal(
		    wire_open_plan(&f->views[i], f->bytes[i].data, f->bytes[i].len), 0);
		check_view(&f->views[i]);
	}
}

static inline const struct wire_plan_view *
view_of(struct fixture *f, const char *tor)
{
	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		if (strcmp(f->views[i].plan.tor, tor) == 0)
			return &f->views[i];
	}
	fail_msg("no plan of %s", tor);
	return NULL;
}

static inline size_t
entries_of(const struct wire_plan_view *view, enum wire_probe_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(view, i, &entry);
		count += entry.kind == kind;
	}
	return count;
}

/* Number of entries of this kind from members on this host to targets of this ToR;
 * NULL: any. */
static inline size_t
entries_between(const struct wire_plan_view *view, enum wire_probe_kind kind,
    const char *host, const char *tor)
{
	size_t count = 0;

	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;
		struct wire_rnic src, dst;

		wire_plan_entry(view, i, &entry);
		wire_plan_member(view, entry.src, &src);
		wire_plan_remote(view, entry.dst, &dst);
		count += entry.kind == kind &&
			 (host == NULL || strcmp(src.host, host) == 0) &&
			 (tor == NULL || strcmp(dst.tors[0], tor) == 0);
	}
	return count;
}

static inline bool
has_remote(const struct wire_plan_view *view, uint64_t guid)
{
	for (size_t i = 0; i < view->plan.remote_count; i++) {
		struct wire_rnic rnic;

		wire_plan_remote(view, i, &rnic);
		if (rnic.id.guid == guid)
			return true;
	}
	return false;
}

static inline double
rate_of(const struct wire_plan_entry *entry)
{
	return (entry->paired ? 2e6 : 1e6) / entry->interval_us;
}

/* The smallest rate of planned probes, a second, over all directions of all cables;
 * counts outgoing probes, not replies. */
static inline double
least_cable_rate(struct fixture *f)
{
	size_t switches = rm_topology_switches(f->topology);
	size_t links = rm_topology_links(f->topology);
	double *loads = calloc(2 * links, sizeof(*loads));
	double *rates = calloc(switches, sizeof(*rates)), least = 1e9;
	struct rm_topology_paths *paths = NULL;

	assert_true(loads != NULL && rates != NULL);
	assert_int_equal(rm_topology_paths_new(f->topology, &paths), 0);
	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		const struct wire_plan_view *view = &f->views[i];
		size_t src = 0, dst = 0;

		assert_true(rm_topology_find(f->topology, view->plan.tor, &src));
		for (size_t k = 0; k < view->plan.entry_count; k++) {
			struct wire_plan_entry entry;
			struct wire_rnic rnic;

			wire_plan_entry(view, k, &entry);
			if (entry.kind != WIRE_INTER_TOR)
				continue;
			wire_plan_remote(view, entry.dst, &rnic);
			assert_true(rm_topology_find(f->topology, rnic.tors[0], &dst));
			rm_topology_paths_to(paths, dst);
			rates[src] = rate_of(&entry);
			rm_topology_paths_load(paths, rates, loads);
			rates[src] = 0;
		}
	}
	for (size_t i = 0; i < 2 * links; i++)
		least = loads[i] < least ? loads[i] : least;
	rm_topology_paths_free(paths);
	free(loads);
	free(rates);
	return least;
}

static inline void
racks_of_two_three_four_and_eight(struct fixture *f, unsigned spines)
{
	set_topology(f, region_clos(4, spines));
	region_rack(f->registry, "tor1", 100, 2);
	region_rack(f->registry, "tor2", 200, 3);
	region_rack(f->registry, "tor3", 300, 4);
	region_rack(f->registry, "tor4", 400, 8);
	plan(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif

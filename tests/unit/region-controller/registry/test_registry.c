#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "region-controller/store/store.h"
#include "tests/unit/region-controller/region.h"

struct fixture {
	struct rm_topology *topology;
	struct registry *registry;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || registry_new(&f->registry) < 0)
		return -1;
	f->topology = region_topology("region: lab\nplanes: [p, q]\nswitches:\n"
				      "- {name: tor1, role: tor, plane: p}\n"
				      "- {name: tor2, role: tor, plane: p}\n"
				      "- {name: tor9, role: tor, plane: q}\n"
				      "- {name: spine1, role: spine, plane: p}\n");
	*state = f;
	return registry_set_topology(f->registry, f->topology);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	registry_free(f->registry);
	rm_topology_free(f->topology);
	free(f);
	return 0;
}

static int
report(struct fixture *f, const struct wire_rnic *rnic, enum registry_refusal *refusal)
{
	struct registry_source source = region_source(rnic->host);

	return registry_report(f->registry, rnic, &source, refusal);
}

static const struct registry_rnic *
known(struct fixture *f, uint64_t number)
{
	return registry_find(f->registry, (struct rm_rnic_id){ number, 0 });
}

static size_t
members(struct fixture *f, const char *tor)
{
	size_t index = 0;

	assert_true(rm_topology_find(f->topology, tor, &index));
	return registry_members(f->registry, index);
}

static void
a_repeated_registration_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal = REGISTRY_FULL;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(refusal, REGISTRY_PLACED);
	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(registry_count(f->registry), 1);
	assert_int_equal(members(f, "tor1"), 1);
	assert_string_equal(known(f, 1)->aggregator, "agg1");
}

static void
a_new_address_is_a_change(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.addresses[0].bytes[3] = 99;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(known(f, 1)->addresses[0].bytes[3], 99);
	rnic.mtu_bytes = 9000;
	assert_int_equal(report(f, &rnic, &refusal), 1);
}

static void
a_restart_matters_only_with_a_qpn(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.incarnation = 8;
	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(known(f, 1)->incarnation, 8);
	rnic.qpn = 17;
	rnic.addresses[0].port = WIRE_ROCE_PORT;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.incarnation = 9;
	assert_int_equal(report(f, &rnic, &refusal), 1);
}

static void
qps_make_new_plans_and_links_are_only_kept(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_roce_rnic(1, "h1", "tor1", REGION_V4), wire;
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(report(f, &rnic, &refusal), 0);
	rnic.link = WIRE_LINK_DOWN; /* stored, but changes no plan */
	assert_int_equal(report(f, &rnic, &refusal), 0);
	rnic.qpn++;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.large_qpn++;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.lid = 9;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	wire = registry_wire(f->topology, known(f, 1));
	assert_int_equal(wire.qpn, rnic.qpn);
	assert_int_equal(wire.large_qpn, rnic.large_qpn);
	assert_int_equal(wire.lid, 9);
	assert_int_equal(wire.link, WIRE_LINK_DOWN);
}

static void
qps_and_ports_must_fit_each_other(void **state)
{
	struct fixture *f = *state;
	const struct wire_rnic fine = region_roce_rnic(1, "h1", "tor1", REGION_V4);
	struct wire_rnic rnic = fine;
	enum registry_refusal refusal;

	rnic.addresses[0].port = 862; /* not the port of a reflector */
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_BAD_ADDRESS);
	rnic.addresses[0].port = 0;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	rnic.lid = 9; /* InfiniBand has no UDP port */
	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic = fine;
	rnic.qpn = 0;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_BAD_ADDRESS);
	rnic = fine;
	rnic.large_qpn = rnic.qpn;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	rnic = fine;
	rnic.qpn = WIRE_MAX_QPN + 1;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	rnic = fine;
	rnic.link = WIRE_LINK_DOWN + 1;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	rnic = fine;
	rnic.large_qpn = 0;
	assert_int_equal(report(f, &rnic, &refusal), 1);
}

static void
registrations_of_a_replaced_agent_are_ignored(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.incarnation = 8;
	rnic.mtu_bytes = 9000;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	/* An aggregator that does not know of the agent's restart yet. */
	rnic.incarnation = 7;
	rnic.mtu_bytes = 1500;
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_STALE);
	assert_int_equal(known(f, 1)->mtu_bytes, 9000);
	assert_int_equal(registry_counts(f->registry)->refused[REGISTRY_STALE], 1);
}

static void
an_rnic_may_move_to_another_tor(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	rnic.tors[0] = "tor2";
	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(members(f, "tor1"), 0);
	assert_int_equal(members(f, "tor2"), 1);
	assert_int_equal(known(f, 1)->moves, 1);
	assert_int_equal(registry_counts(f->registry)->moved, 1);
}

static void
an_rnic_belongs_to_its_first_host_until_it_is_removed(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	struct wire_rnic thief = region_rnic(1, "h2", "tor2", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(report(f, &thief, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_OF_OTHER_HOST);
	assert_string_equal(registry_refused(f->registry, 0)->name, "\"h1\"");
	/* VMs that were cloned with their MACs, or VFs with a manufacturer's GUID */
	assert_non_null(strstr(registry_refusal_sentence(refusal),
	    "if two hosts have this GUID or MAC, give one of them another one"));
	thief.incarnation = 0; /* nor does a report from an old plan move the RNIC */
	assert_int_equal(report(f, &thief, &refusal), -EINVAL);
	assert_string_equal(known(f, 1)->host, "h1");
	assert_int_equal(members(f, "tor1"), 1);
	assert_int_equal(members(f, "tor2"), 0);
	assert_int_equal(
	    registry_counts(f->registry)->refused[REGISTRY_OF_OTHER_HOST], 2);
	assert_int_equal(registry_forget(f->registry, (struct rm_rnic_id){ 1, 0 }), 0);
	thief.incarnation = 7;
	assert_int_equal(report(f, &thief, &refusal), 1);
	assert_string_equal(known(f, 1)->host, "h2");
}

static void
a_host_that_was_renamed_keeps_its_rnics(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_false(registry_rename(f->registry, rnic.id, "h2", "h3"));
	assert_false(registry_rename(f->registry, rnic.id, "h1", "h 3"));
	assert_string_equal(known(f, 1)->host, "h1");
	assert_true(registry_rename(f->registry, rnic.id, "h1", "h3"));
	assert_int_equal(report(f, &rnic, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_OF_OTHER_HOST);
	rnic.host = "h3";
	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_string_equal(known(f, 1)->host, "h3");
	assert_int_equal(members(f, "tor1"), 1);
}

static void
a_bond_is_a_member_of_both_its_racks(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	rnic.tors[1] = "tor2";
	rnic.tor_count = 2;
	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(refusal, REGISTRY_PLACED);
	assert_int_equal(members(f, "tor1"), 1);
	assert_int_equal(members(f, "tor2"), 1);
}

static void
an_rnic_without_a_place_is_kept_and_counted(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor7", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(refusal, REGISTRY_UNKNOWN_TOR);
	rnic.tors[0] = "spine1";
	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(refusal, REGISTRY_NOT_A_TOR);
	rnic.tors[0] = "tor1";
	rnic.tors[1] = "tor9";
	rnic.tor_count = 2;
	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(refusal, REGISTRY_WRONG_PLANE);
	assert_int_equal(registry_count(f->registry), 1);
	assert_int_equal(members(f, "tor1"), 0);
	assert_int_equal(
	    registry_counts(f->registry)->refused[REGISTRY_UNKNOWN_TOR], 1);
	assert_int_equal(
	    registry_counts(f->registry)->refused[REGISTRY_WRONG_PLANE], 1);
}

static void
a_new_topology_gives_a_place_to_an_rnic_without_one(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor7", REGION_V4);
	struct rm_topology *wider =
	    region_topology("region: lab\nswitches:\n- {name: tor7, role: tor}\n");
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 0);
	assert_int_equal(registry_set_topology(f->registry, wider), 0);
	assert_int_equal(known(f, 1)->refusal, REGISTRY_PLACED);
	assert_int_equal(registry_members(f->registry, 0), 1);
	assert_int_equal(registry_set_topology(f->registry, f->topology), 0);
	assert_int_equal(known(f, 1)->refusal, REGISTRY_UNKNOWN_TOR);
	rm_topology_free(wider);
}

static void
refused_as(struct fixture *f, const struct wire_rnic *rnic, const char *host,
    enum registry_refusal expected)
{
	struct registry_source source = region_source(host);
	enum registry_refusal refusal = REGISTRY_PLACED;

	assert_int_equal(
	    registry_report(f->registry, rnic, &source, &refusal), -EINVAL);
	assert_int_equal(refusal, expected);
	assert_int_equal(registry_refused(f->registry, 0)->refusal, expected);
	assert_int_equal(registry_count(f->registry), 0);
}

static void
a_malformed_registration_is_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	const struct wire_rnic good = region_rnic(1, "h1", "tor1", REGION_V4);
	struct wire_rnic rnic = good;

	rnic.id.guid = 0;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_ID);
	rnic = good;
	rnic.id.port = RM_PORT_SWITCH;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_ID);
	rnic = good;
	rnic.tor_count = 0;
	refused_as(f, &rnic, "h1", REGISTRY_NO_TOR);
	rnic = good;
	refused_as(f, &rnic, "h2", REGISTRY_BAD_NAME);
	assert_string_equal(registry_refused(f->registry, 0)->name, "\"h1\"");
	rnic.device = "eth 0";
	refused_as(f, &rnic, "h1", REGISTRY_BAD_NAME);
	assert_string_equal(registry_refused(f->registry, 0)->name, "\"eth 0\"");
	rnic = good;
	rnic.tors[1] = "tor1";
	rnic.tor_count = 2;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_NAME);
	assert_string_equal(registry_refused(f->registry, 0)->name, "\"tor1\"");
	rnic = good;
	rnic.addresses[0].port = 0;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_ADDRESS);
	rnic = good;
	rnic.addresses[0].bytes[0] = 239;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_ADDRESS);
	rnic = good;
	rnic.addresses[0].family = 5;
	refused_as(f, &rnic, "h1", REGISTRY_BAD_ADDRESS);
}

/* The driver that ethtool reports for a VLAN, and one with unusual characters. */
static void
no_driver_is_a_reason_to_refuse_an_rnic(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic vlan = region_rnic(1, "h1", "tor1", REGION_V4),
			 odd = region_rnic(2, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	vlan.driver = "802.1Q VLAN Support";
	odd.device = "eth1";
	odd.driver = "a\xff\nb";
	assert_int_equal(report(f, &vlan, &refusal), 1);
	assert_int_equal(refusal, REGISTRY_PLACED);
	assert_int_equal(report(f, &odd, &refusal), 1);
	assert_int_equal(refusal, REGISTRY_PLACED);
	assert_int_equal(registry_refused_count(f->registry), 0);
	assert_string_equal(known(f, 1)->driver, "802.1Q VLAN Support");
	assert_string_equal(known(f, 2)->driver, "a??b");
}

static void
repeated_refusals_are_one_entry_with_a_count(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);

	rnic.addresses[0].port = 0;
	for (int i = 0; i < 3; i++)
		refused_as(f, &rnic, "h1", REGISTRY_BAD_ADDRESS);
	assert_int_equal(registry_refused_count(f->registry), 1);
	assert_int_equal(registry_refused(f->registry, 0)->times, 3);
	for (unsigned i = 0; i < 2 * REGISTRY_MAX_REFUSED; i++) {
		rnic.id.guid = i + 2;
		refused_as(f, &rnic, "h1", REGISTRY_BAD_ADDRESS);
	}
	assert_int_equal(registry_refused_count(f->registry), REGISTRY_MAX_REFUSED);
}

static bool
alive(uint64_t session, void *arg)
{
	return session == *(uint64_t *)arg;
}

static void
only_rnics_without_a_connected_aggregator_age(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	uint64_t session = 1;
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(
	    registry_expire(f->registry, (rm_mono_t){ 1000 }, 100, alive, &session), 0);
	session = 2;
	assert_int_equal(
	    registry_expire(f->registry, (rm_mono_t){ 1100 }, 100, alive, &session), 0);
	assert_int_equal(members(f, "tor1"), 1);
	assert_int_equal(
	    registry_expire(f->registry, (rm_mono_t){ 1101 }, 100, alive, &session), 1);
	assert_int_equal(members(f, "tor1"), 0);
	assert_null(known(f, 1));
}

static void
an_operator_can_remove_an_rnic(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(1, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;

	assert_int_equal(report(f, &rnic, &refusal), 1);
	assert_int_equal(registry_forget(f->registry, (struct rm_rnic_id){ 1, 0 }), 0);
	assert_int_equal(
	    registry_forget(f->registry, (struct rm_rnic_id){ 1, 0 }), -ENOENT);
	assert_int_equal(members(f, "tor1"), 0);
	assert_int_equal(registry_counts(f->registry)->forgotten, 1);
}

static void
all_come_sorted_by_id(void **state)
{
	struct fixture *f = *state;
	const struct registry_rnic **all = NULL;
	size_t count = 0;

	for (uint64_t i = 50; i > 0; i--) {
		struct wire_rnic rnic =
		    region_rnic(i * 7 % 53, "h1", "tor1", REGION_V4);

		region_report(f->registry, &rnic);
	}
	assert_int_equal(registry_sorted(f->registry, &all, &count), 0);
	assert_int_equal(count, 50);
	for (size_t i = 1; i < count; i++)
		assert_true(all[i - 1]->id.guid < all[i]->id.guid);
	free(all);
}

/* A report out of an aggregator's plan has incarnation 0. */
static void
a_registration_of_an_old_plan_adds_but_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic fresh = region_rnic(1, "h1", "tor1", REGION_V4), old = fresh;
	enum registry_refusal refusal = REGISTRY_FULL;

	old.incarnation = 0;
	old.mtu_bytes = 1280;
	assert_int_equal(report(f, &old, &refusal), 1);
	assert_int_equal(members(f, "tor1"), 1);
	assert_int_equal(report(f, &fresh, &refusal), 1);
	assert_int_equal(report(f, &old, &refusal), 0);
	assert_int_equal(known(f, 1)->mtu_bytes, fresh.mtu_bytes);
	/* The agent's own next report is not taken for an old one. */
	assert_int_equal(report(f, &fresh, &refusal), 0);
	assert_int_equal(refusal, REGISTRY_PLACED);
}

static void
note_replaced(
    const struct registry_rnic *old, const struct registry_rnic *by, void *arg)
{
	uint64_t *numbers = arg;

	numbers[0] = old->id.guid;
	numbers[1] = by->id.guid;
}

/* Reports a whole registration of a host. Returns how many RNICs it replaces; their
 * numbers go to `numbers`. */
static size_t
report_all(
    struct fixture *f, const struct wire_rnic *rnics, size_t count, uint64_t numbers[2])
{
	struct registry_named named[4];
	enum registry_refusal refusal;

	for (size_t i = 0; i < count; i++) {
		named[i] = (struct registry_named){ rnics[i].id,
			known(f, rnics[i].id.guid) != NULL };
		assert_true(report(f, &rnics[i], &refusal) >= 0);
	}
	return registry_replace(
	    f->registry, rnics[0].host, named, count, note_replaced, numbers);
}

static void
a_swapped_rnic_takes_the_place_of_the_old_one(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic old = region_rnic(1, "h1", "tor1", REGION_V4);
	struct wire_rnic fresh = region_rnic(2, "h1", "tor1", REGION_V4);
	struct wire_rnic renamed = region_rnic(3, "h1", "tor1", REGION_V4);
	uint64_t numbers[2] = { 0 };

	assert_int_equal(report_all(f, &old, 1, numbers), 0);
	assert_int_equal(
	    report_all(f, &fresh, 1, numbers), 1); /* the same device name */
	assert_null(known(f, 1));
	assert_int_equal(numbers[0], 1);
	assert_int_equal(numbers[1], 2);
	assert_int_equal(members(f, "tor1"), 1);
	renamed.device = "rnic7";
	renamed.addresses[0] = fresh.addresses[0];
	assert_int_equal(report_all(f, &renamed, 1, numbers), 1); /* the same address */
	assert_null(known(f, 2));
	assert_int_equal(registry_counts(f->registry)->replaced, 2);
	/* The old RNIC is back, as a VF may have this MAC at one time and another
	 * later. */
	old.device = "rnic7";
	assert_int_equal(report_all(f, &old, 1, numbers), 1);
	assert_non_null(known(f, 1));
	assert_int_equal(registry_count(f->registry), 1);
}

static void
no_rnic_is_replaced_that_is_elsewhere_or_still_reported(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic all[3] = {
		region_rnic(1, "h1", "tor1", REGION_V4),
		region_rnic(2, "h1", "tor1", REGION_V4),
		region_rnic(3, "h1", "tor2", REGION_V4),
	};
	struct wire_rnic other = region_rnic(4, "h2", "tor1", REGION_V4);
	uint64_t numbers[2];

	/* Two RNICs of one name in one registration: a mistake, but both exist. */
	assert_int_equal(report_all(f, all, 2, numbers), 0);
	/* Reported by the aggregator of another ToR, which only knows RNICs of that
	 * ToR. */
	assert_int_equal(report_all(f, &all[2], 1, numbers), 0);
	/* Another host with the same address replaces nothing. */
	other.addresses[0] = all[0].addresses[0];
	assert_int_equal(report_all(f, &other, 1, numbers), 0);
	/* Unplugged and not replaced: the RNIC stays known, so that its absence is
	 * reported. */
	all[0].device = "rnic1";
	assert_int_equal(report_all(f, all, 1, numbers), 0);
	assert_int_equal(registry_count(f->registry), 4);
}

static void
a_known_rnic_with_the_name_or_address_of_another_does_not_replace_it(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic both[2] = {
		region_rnic(1, "h1", "tor1", REGION_V4),
		region_rnic(2, "h1", "tor1", REGION_V4),
	};
	uint64_t numbers[2];

	both[1].device = "rnic1";
	assert_int_equal(report_all(f, both, 2, numbers), 0);
	/* The first RNIC is dead; after a reboot the second has the first one's device
	 * name. */
	both[1].device = both[0].device;
	for (int i = 0; i < 2; i++)
		assert_int_equal(report_all(f, &both[1], 1, numbers), 0);
	both[1].addresses[0] = both[0].addresses[0];
	assert_int_equal(report_all(f, &both[1], 1, numbers), 0);
	assert_non_null(known(f, 1));
	assert_int_equal(members(f, "tor1"), 2);
	/* A new RNIC replaces the missing one, and no other. */
	both[0].id.guid = 3;
	assert_int_equal(report_all(f, both, 2, numbers), 1);
	assert_int_equal(numbers[0], 1);
	assert_int_equal(numbers[1], 3);
}

/* Three VFs get other MACs at a reboot: the first and the second one those that the
 * second and the third one had, the third one a new one. Each registration has one VF
 * more. */
static void
an_rnic_is_replaced_whose_device_has_got_the_mac_of_another(void **state)
{
	static const char *const devices[] = { "rnic0", "rnic1", "rnic2" };
	static const unsigned orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const size_t order_count = sizeof(orders) / sizeof(orders[0]);
	struct fixture *f = *state;
	enum registry_refusal refusal;

	for (size_t order = 0; order < order_count; order++) {
		const uint64_t macs[] = { 10 * order + 1, 10 * order + 2,
			10 * order + 3, 10 * order + 4 };
		const char host[] = { 'h', (char)('1' + order), 0 };
		struct wire_rnic vfs[3], up[3];
		uint64_t numbers[4] = { 0 };
		size_t replaced = 0;

		for (size_t i = 0; i < 3; i++) {
			vfs[i] = region_rnic(macs[i], host, "tor1", REGION_V4);
			vfs[i].device = devices[i];
			vfs[i].addresses[0].bytes[2] = (uint8_t)order;
			vfs[i].addresses[0].bytes[3] = (uint8_t)i;
			assert_int_equal(report(f, &vfs[i], &refusal), 1);
		}
		for (size_t i = 0; i < 3; i++) {
			const unsigned vf = orders[order][i];

			up[i] = vfs[vf];
			up[i].id.guid = macs[vf + 1];
			up[i].incarnation++;
			replaced += report_all(f, up, i + 1, numbers);
		}
		assert_null(known(f, macs[0]));
		assert_int_equal(registry_count(f->registry), 3 * (order + 1));
		assert_true(replaced >= 1);
	}
}

/* Out of the store, as the last leader left it. */
static void
an_rnic_swapped_without_a_leader_is_replaced_too(void **state)
{
	struct fixture *f = *state;
	const struct store_rnic stored = { region_rnic(1, "h1", "tor1", REGION_V4),
		"agg7", { 5 * RM_NS_PER_S } };
	const struct wire_rnic fresh = region_rnic(2, "h1", "tor1", REGION_V4);
	uint64_t numbers[2];

	assert_int_equal(registry_load(f->registry, &stored, (rm_mono_t){ 1 }), 1);
	assert_int_equal(report_all(f, &fresh, 1, numbers), 1);
	assert_null(known(f, 1));
}

/* An aggregator that has lost its agent still reports the RNIC from its old plan. */
static void
a_replaced_rnic_does_not_come_back_by_an_old_plan(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic old = region_rnic(1, "h1", "tor1", REGION_V4);
	const struct wire_rnic fresh = region_rnic(2, "h1", "tor1", REGION_V4);
	enum registry_refusal refusal;
	uint64_t numbers[2];

	old.incarnation = 0;
	assert_int_equal(
	    report(f, &old, &refusal), 1); /* no newer report is known yet */
	assert_int_equal(report_all(f, &fresh, 1, numbers), 1);
	assert_int_equal(report(f, &old, &refusal), -EINVAL);
	assert_int_equal(refusal, REGISTRY_REPLACED);
	assert_int_equal(registry_count(f->registry), 1);
}

static struct wire_address
v4(uint8_t last)
{
	return (struct wire_address){ .family = 4, .bytes = { 10, 0, 0, last } };
}

static void
an_rnic_is_found_by_any_of_its_addresses(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(7, "h1", "tor1", REGION_V4 | REGION_V6);
	struct wire_address address = v4(7), mapped = { .family = 6 };

	region_report(f->registry, &rnic);
	mapped.bytes[10] = mapped.bytes[11] = 0xff;
	memcpy(mapped.bytes + 12, address.bytes, 4);
	assert_non_null(registry_resolve(f->registry, &address));
	assert_non_null(registry_resolve(f->registry, &mapped));
	assert_non_null(registry_resolve(f->registry, &rnic.addresses[1]));
	/* The RNIC has another address; the old one belongs to no RNIC. */
	rnic.addresses[0] = v4(9);
	rnic.addresses[0].port = 862;
	region_report(f->registry, &rnic);
	assert_null(registry_resolve(f->registry, &address));
	address = v4(9);
	assert_non_null(registry_resolve(f->registry, &address));
	assert_int_equal(registry_forget(f->registry, (struct rm_rnic_id){ 7, 0 }), 0);
	assert_null(registry_resolve(f->registry, &address));
}

static void
report_at(struct fixture *f, const struct wire_rnic *rnic, int64_t wall_s)
{
	struct registry_source source = region_source(rnic->host);
	enum registry_refusal refusal;

	source.wall.ns = wall_s * RM_NS_PER_S;
	assert_true(registry_report(f->registry, rnic, &source, &refusal) >= 0);
}

static void
the_newest_of_two_claims_wins_and_stays(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic old = region_rnic(7, "h1", "tor1", REGION_V4);
	struct wire_rnic young = region_rnic(3, "h2", "tor1", REGION_V4);
	struct wire_address address = v4(7);
	struct registry_shared shared;

	young.addresses[0] = old.addresses[0];
	report_at(f, &old, 10);
	assert_false(registry_shared_address(f->registry, 0, &shared));
	report_at(f, &young, 20);
	assert_int_equal(registry_counts(f->registry)->ambiguous, 1);
	/* A repeated report, as after a reconnect, is no newer claim to the address. */
	report_at(f, &old, 30);
	assert_int_equal(registry_counts(f->registry)->ambiguous, 1);
	assert_string_equal(registry_resolve(f->registry, &address)->host, "h2");
	assert_true(registry_shared_address(f->registry, 0, &shared));
	assert_int_equal(shared.count, 2);
	assert_string_equal(shared.rnics[0]->host, "h2");
	assert_false(registry_shared_address(f->registry, 1, &shared));
	assert_int_equal(registry_forget(f->registry, (struct rm_rnic_id){ 3, 0 }), 0);
	assert_string_equal(registry_resolve(f->registry, &address)->host, "h1");
}

static void
registrations_override_rnics_of_the_store(void **state)
{
	struct fixture *f = *state;
	const struct wire_rnic rnic = region_rnic(7, "h1", "tor1", REGION_V4);
	const struct store_rnic stored = { rnic, "agg7", { 5 * RM_NS_PER_S } };
	struct wire_rnic reported = rnic;
	const struct registry_rnic *known;

	assert_int_equal(registry_load(f->registry, &stored, (rm_mono_t){ 1 }), 1);
	assert_int_equal(registry_load(f->registry, &stored, (rm_mono_t){ 2 }), 0);
	known = registry_find(f->registry, (struct rm_rnic_id){ 7, 0 });
	assert_string_equal(known->aggregator, "agg7");
	assert_true(known->registered.ns == 5 * RM_NS_PER_S);
	assert_int_equal(known->refusal, REGISTRY_PLACED);
	reported.incarnation = 8;
	reported.mtu_bytes = 9000;
	report_at(f, &reported, 10);
	assert_int_equal(known->mtu_bytes, 9000);
	assert_int_equal(registry_counts(f->registry)->loaded, 1);
}

static void
invalid_rnics_of_the_store_are_not_loaded(void **state)
{
	struct fixture *f = *state;
	struct store_rnic stored = { region_rnic(7, "h 1", "tor1", REGION_V4), "",
		{ 0 } };

	assert_true(registry_load(f->registry, &stored, (rm_mono_t){ 1 }) < 0);
	assert_int_equal(registry_count(f->registry), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_registration_of_an_old_plan_adds_but_changes_nothing),
		TEST(a_swapped_rnic_takes_the_place_of_the_old_one),
		TEST(no_rnic_is_replaced_that_is_elsewhere_or_still_reported),
		TEST(
		    a_known_rnic_with_the_name_or_address_of_another_does_not_replace_it),
		TEST(an_rnic_is_replaced_whose_device_has_got_the_mac_of_another),
		TEST(an_rnic_swapped_without_a_leader_is_replaced_too),
		TEST(a_replaced_rnic_does_not_come_back_by_an_old_plan),
		TEST(a_repeated_registration_changes_nothing),
		TEST(a_new_address_is_a_change),
		TEST(a_restart_matters_only_with_a_qpn),
		TEST(qps_make_new_plans_and_links_are_only_kept),
		TEST(qps_and_ports_must_fit_each_other),
		TEST(registrations_of_a_replaced_agent_are_ignored),
		TEST(an_rnic_may_move_to_another_tor),
		TEST(an_rnic_belongs_to_its_first_host_until_it_is_removed),
		TEST(a_host_that_was_renamed_keeps_its_rnics),
		TEST(a_bond_is_a_member_of_both_its_racks),
		TEST(an_rnic_without_a_place_is_kept_and_counted),
		TEST(a_new_topology_gives_a_place_to_an_rnic_without_one),
		TEST(a_malformed_registration_is_refused_with_a_reason),
		TEST(no_driver_is_a_reason_to_refuse_an_rnic),
		TEST(repeated_refusals_are_one_entry_with_a_count),
		TEST(only_rnics_without_a_connected_aggregator_age),
		TEST(an_operator_can_remove_an_rnic),
		TEST(all_come_sorted_by_id),
		TEST(an_rnic_is_found_by_any_of_its_addresses),
		TEST(the_newest_of_two_claims_wins_and_stays),
		TEST(registrations_override_rnics_of_the_store),
		TEST(invalid_rnics_of_the_store_are_not_loaded),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}

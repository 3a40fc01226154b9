#include "tor-aggregator/standby/peer_incident.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"

static const rm_mono_t now = { 7000 * RM_NS_PER_S };

static const struct wire_incident sound = {
	.incident_id = 7,
	.state = WIRE_UPDATED,
	.tor = "t1",
	.part_type = "rnic",
	.part = "h1/r0",
	.place = "t1",
	.kind = "rnic-down",
	.confidence = 0.5,
	.began_wall_ns = 1,
	.opened_wall_ns = 2,
	.changed_wall_ns = 3,
	.sentence = "",
	.evidence_json = "{}",
};

static void
the_standby_gets_the_known_part_of_a_or_b(void **state)
{
	struct rm_incident in = {
		.id = 42,
		.verdict = { .part = { .type = RM_PART_RNIC,
				 .name = "h1/r0 or h2/r0",
				 .place = "t1" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .evidence = { .narrowed = "h2/r0" } },
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident wire;
	struct wire_bytes bytes;
	struct rm_incident out;

	(void)state;
	assert_int_equal(peer_incident_write(writer, "t1", &in, now, &bytes), 0);
	assert_int_equal(wire_open_incident(&wire, bytes.data, bytes.len), 0);
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_string_equal(out.verdict.evidence.narrowed, "h2/r0");
	wire.evidence_json = "{\"narrowed\":\"h3/r0\"}";
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_string_equal(out.verdict.evidence.narrowed, "");
	wire_writer_free(writer);
}

/* If the standby takes over, its alert must contain the impact. */
static void
the_standby_gets_the_affected_services(void **state)
{
	struct rm_incident in = {
		.id = 42,
		.verdict = { .part = { .type = RM_PART_RNIC, .name = "h1/r0" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .evidence = { .impact = RM_IMPACT_P0,
			.services = "unit:\"a\", pod:b (ml/t-0)" } },
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident wire;
	struct wire_bytes bytes;
	struct rm_incident out;

	(void)state;
	assert_int_equal(peer_incident_write(writer, "t1", &in, now, &bytes), 0);
	assert_int_equal(wire_open_incident(&wire, bytes.data, bytes.len), 0);
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_int_equal(out.verdict.evidence.impact, RM_IMPACT_P0);
	assert_string_equal(
	    out.verdict.evidence.services, "unit:\"a\", pod:b (ml/t-0)");
	wire.evidence_json = "{\"impact\":\"P7\",\"services\":\"unit:a\"}";
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_int_equal(out.verdict.evidence.impact, RM_IMPACT_UNKNOWN);
	assert_string_equal(out.verdict.evidence.services, "");
	wire.evidence_json = "{\"impact\":\"P1\",\"services\":\"a\\u0007\"}";
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_string_equal(out.verdict.evidence.services, "a?");
	wire_writer_free(writer);
}

static void
a_written_incident_is_read_again(void **state)
{
	struct rm_incident in = {
		.id = 42,
		.verdict = { .part = { .type = RM_PART_RNIC,
				 .name = "h1/r0",
				 .place = "t1" },
		    .rnic = { 0x123456789abcdef0, 1 },
		    .kind = RM_KIND_RNIC_DOWN,
		    .confidence = 0.75,
		    .evidence = { .window_start = { 100 } } },
		.severity = RM_SEVERITY_CRITICAL,
		.opened = { 200 },
		.changed = { 300 },
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident wire;
	struct wire_bytes bytes;
	struct rm_incident out;

	for (int i = 0; i < 4; i++) {
		in.notified_opened = i > 0;
		in.resolved.ns = i >= 2 ? 400 : 0;
		in.notified_resolved = i == 3;
		assert_int_equal(
		    peer_incident_write(writer, "t1", &in, now, &bytes), 0);
		assert_int_equal(wire_open_incident(&wire, bytes.data, bytes.len), 0);
		assert_string_equal(wire.tor, "t1");
		assert_int_equal(peer_incident_read(&wire, now, &out), 0);
		assert_int_equal(out.id, 42);
		assert_true(rm_part_equal(&out.verdict.part, &in.verdict.part));
		assert_int_equal(out.verdict.rnic.guid, in.verdict.rnic.guid);
		assert_int_equal(out.verdict.kind, RM_KIND_RNIC_DOWN);
		assert_int_equal(out.verdict.evidence.window_start.ns, 100);
		assert_int_equal(out.severity, RM_SEVERITY_CRITICAL);
		assert_int_equal(out.opened.ns, 200);
		assert_int_equal(out.changed.ns, i >= 2 ? 400 : 300);
		assert_int_equal(out.resolved.ns, in.resolved.ns);
		assert_int_equal(out.notified_opened, in.notified_opened);
		assert_int_equal(out.notified_resolved, in.notified_resolved);
	}
	wire_writer_free(writer);
}

/* The monotonic clocks of the two hosts, and their wall clocks, differ. */
static void
the_standby_knows_how_a_part_flaps(void **state)
{
	const rm_mono_t later = { 900000 * RM_NS_PER_S };
	struct rm_incident in = {
		.id = 42,
		.verdict = { .part = { .type = RM_PART_RNIC, .name = "h1/r0" },
		    .kind = RM_KIND_RNIC_LATE },
		.fault = RM_FAULT_LOSSES,
		.recurrence = { .flaps = true,
		    .falls = 9,
		    .since = { 6000 * RM_NS_PER_S },
		    .at = { { 6900 * RM_NS_PER_S }, { 6800 * RM_NS_PER_S } },
		    .gap_ns = 90 * RM_NS_PER_S,
		    .longest_ns = 120 * RM_NS_PER_S },
		.flaps_since = { 50000 * RM_NS_PER_S },
		.returned = { 50900 * RM_NS_PER_S },
		.returns = 8,
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident wire;
	struct wire_bytes bytes;
	struct rm_incident out;

	assert_int_equal(peer_incident_write(writer, "t1", &in, now, &bytes), 0);
	assert_int_equal(wire_open_incident(&wire, bytes.data, bytes.len), 0);
	assert_int_equal(peer_incident_read(&wire, later, &out), 0);
	assert_int_equal(out.fault, RM_FAULT_LOSSES);
	assert_true(out.recurrence.flaps);
	assert_int_equal(out.recurrence.falls, 9);
	assert_int_equal(
	    rm_mono_since(later, out.recurrence.since), 1000 * RM_NS_PER_S);
	assert_int_equal(rm_mono_since(later, out.recurrence.at[0]), 100 * RM_NS_PER_S);
	assert_int_equal(rm_mono_since(later, out.recurrence.at[1]), 200 * RM_NS_PER_S);
	assert_int_equal(out.recurrence.gap_ns, 90 * RM_NS_PER_S);
	assert_int_equal(out.recurrence.longest_ns, 120 * RM_NS_PER_S);
	assert_int_equal(out.flaps_since.ns, in.flaps_since.ns);
	assert_int_equal(out.returned.ns, in.returned.ns);
	assert_int_equal(out.returns, 8);
	wire_writer_free(writer);
}

/* An older peer sends no falls, and a newer one perhaps others. */
static void
falls_that_are_not_usable_cost_only_themselves(void **state)
{
	static const char *const texts[] = { "{}", "{\"falls\":null}", "{\"falls\":7}",
		"{\"falls\":{\"version\":2,\"fault\":7}}",
		"{\"falls\":{\"version\":1,\"fault\":\"losses\"}}",
		"{\"falls\":{\"version\":1,\"fault\":\"moon\",\"flapping\":true,"
		"\"falls\":3,\"since_ns\":1,\"last_ns\":3,\"before_ns\":2,"
		"\"longest_ns\":1}}" };
	struct wire_incident odd = sound;
	struct rm_incident out;

	odd.returned_wall_ns = 3;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		odd.evidence_json = texts[i];
		assert_int_equal(peer_incident_read(&odd, now, &out), 0);
		assert_int_equal(out.recurrence.at[0].ns, 0);
		assert_int_equal(out.flaps_since.ns, 0);
		assert_int_equal(out.returned.ns, 0);
		assert_int_equal(out.returns, 0);
	}
}

static void
a_peer_without_severities_has_sent_critical_alerts(void **state)
{
	struct wire_incident wire = sound;
	struct rm_incident out;

	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_int_equal(out.severity, RM_SEVERITY_CRITICAL);
	wire.evidence_json = "{\"severity\":\"page\"}";
	assert_int_equal(peer_incident_read(&wire, now, &out), 0);
	assert_int_equal(out.severity, RM_SEVERITY_CRITICAL);
}

static void
impossible_values_are_refused(void **state)
{
	char longer[RM_PART_NAME_BYTES + 1];
	struct wire_incident bad[11];
	struct rm_incident out;

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	assert_int_equal(peer_incident_read(&sound, now, &out), 0);
	for (size_t i = 0; i < 11; i++)
		bad[i] = sound;
	bad[0].incident_id = 0;
	bad[1].part_type = "moon";
	bad[2].part = "";
	bad[3].part = longer;
	bad[4].place = longer;
	bad[5].kind = "";
	bad[6].confidence = 1.5;
	bad[7].opened_wall_ns = UINT64_MAX;
	bad[8].began_wall_ns = UINT64_MAX;
	bad[9].good_since_wall_ns = UINT64_MAX;
	bad[10].returned_wall_ns = UINT64_MAX;
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(peer_incident_read(&bad[i], now, &out), -EINVAL);
}

/* The earlier release sent an end only after all receivers had got it. */
static void
an_end_counts_as_notified_by_default(void **state)
{
	struct wire_incident end = sound;
	struct rm_incident out;

	end.state = WIRE_RESOLVED;
	end.evidence_json = "{\"rnic\":\"\"}";
	assert_int_equal(peer_incident_read(&end, now, &out), 0);
	assert_true(out.notified_resolved);
}

static void
malformed_evidence_costs_only_the_rnic(void **state)
{
	static const char *const texts[] = { "", "[", "{\"rnic\":7}",
		"{\"rnic\":\"x\"}", "null" };
	struct wire_incident odd = sound;
	struct rm_incident out;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		odd.evidence_json = texts[i];
		assert_int_equal(peer_incident_read(&odd, now, &out), 0);
		assert_int_equal(out.verdict.rnic.guid, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_standby_gets_the_known_part_of_a_or_b),
		cmocka_unit_test(the_standby_gets_the_affected_services),
		cmocka_unit_test(a_written_incident_is_read_again),
		cmocka_unit_test(the_standby_knows_how_a_part_flaps),
		cmocka_unit_test(falls_that_are_not_usable_cost_only_themselves),
		cmocka_unit_test(a_peer_without_severities_has_sent_critical_alerts),
		cmocka_unit_test(impossible_values_are_refused),
		cmocka_unit_test(an_end_counts_as_notified_by_default),
		cmocka_unit_test(malformed_evidence_costs_only_the_rnic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

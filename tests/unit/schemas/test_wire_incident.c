#include <errno.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_incident incident = {
	.head = { "aggregator-1", "eu-1", 171, 172 },
	.incident_id = 173,
	.state = WIRE_RESOLVED,
	.tor = "tor-1",
	.part_type = "rnic",
	.part = "node-a/mlx5_0",
	.place = "tor-1",
	.kind = "down",
	.confidence = 0.875,
	.began_wall_ns = 174,
	.opened_wall_ns = 175,
	.changed_wall_ns = 176,
	.sentence = "7 of 7 probes lost, the others' arrived",
	.evidence_json = "{\"lost\":7}",
};

static int
write_incident(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_incident(writer, &incident, out);
}

static void
expect_incident(const uint8_t *data, size_t len)
{
	struct wire_incident view;

	assert_int_equal(wire_open_incident(&view, data, len), 0);
	assert_string_equal(view.head.aggregator, "aggregator-1");
	assert_string_equal(view.head.region, "eu-1");
	assert_int_equal(view.head.incarnation, 171);
	assert_int_equal(view.head.seq, 172);
	assert_int_equal(view.incident_id, 173);
	assert_int_equal(view.state, WIRE_RESOLVED);
	assert_string_equal(view.tor, "tor-1");
	assert_string_equal(view.part_type, "rnic");
	assert_string_equal(view.part, "node-a/mlx5_0");
	assert_string_equal(view.place, "tor-1");
	assert_string_equal(view.kind, "down");
	assert_true(view.confidence == 0.875);
	assert_int_equal(view.began_wall_ns, 174);
	assert_int_equal(view.opened_wall_ns, 175);
	assert_int_equal(view.changed_wall_ns, 176);
	assert_string_equal(view.sentence, "7 of 7 probes lost, the others' arrived");
	assert_string_equal(view.evidence_json, "{\"lost\":7}");
	assert_int_equal(view.good_since_wall_ns, 0);
	assert_int_equal(view.returned_wall_ns, 0);
	assert_string_equal(
	    view.severity, ""); /* the golden file is older than the field */
}

static int
write_incident_severity(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_incident report = incident;

	report.severity = "major";
	return wire_write_incident(writer, &report, out);
}

static void
expect_incident_severity(const uint8_t *data, size_t len)
{
	struct wire_incident view;

	assert_int_equal(wire_open_incident(&view, data, len), 0);
	assert_string_equal(view.evidence_json, "{\"lost\":7}");
	assert_string_equal(view.severity, "major");
}

static int
write_incident_flapping(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_incident report = incident;

	report.severity = "major";
	report.good_since_wall_ns = 177;
	report.returned_wall_ns = 178;
	return wire_write_incident(writer, &report, out);
}

static void
expect_incident_flapping(const uint8_t *data, size_t len)
{
	struct wire_incident view;

	assert_int_equal(wire_open_incident(&view, data, len), 0);
	assert_string_equal(view.severity, "major");
	assert_int_equal(view.good_since_wall_ns, 177);
	assert_int_equal(view.returned_wall_ns, 178);
}

enum {
	INCIDENT_HEAD,
	INCIDENT_STATE = 2,
	INCIDENT_TOR,
	INCIDENT_PART_TYPE,
	INCIDENT_PART,
	INCIDENT_PLACE,
	INCIDENT_KIND,
	INCIDENT_SENTENCE = 12,
	INCIDENT_EVIDENCE,
	INCIDENT_SEVERITY,
	INCIDENT_FIELDS
};

static int
open_incident(uint8_t state, bool head, unsigned field, size_t text_len)
{
	static const char text[WIRE_MAX_STRING] = { [0 ... WIRE_MAX_STRING - 1] = 'x' };
	struct forge forge;
	size_t root;
	int r;

	forge_init(&forge, "RMI1", 65536);
	root = forge_table(&forge, INCIDENT_FIELDS);
	forge_number(&forge, root, INCIDENT_STATE, state);
	if (head)
		forge_refer(&forge, root, INCIDENT_HEAD, forge_table(&forge, 4));
	forge_refer(&forge, root, field, forge_text(&forge, text, text_len));
	forge_finish(&forge);
	r = wire_walk(WIRE_INCIDENT, forge.data, forge.len);
	forge_clear(&forge);
	return r;
}

static void
state_and_head_are_checked(void **state)
{
	assert_int_equal(open_incident(WIRE_OPENED, true, INCIDENT_TOR, 1), 0);
	assert_int_equal(open_incident(WIRE_RESOLVED, true, INCIDENT_TOR, 1), 0);
	assert_int_equal(open_incident(0, true, INCIDENT_TOR, 1), -EBADMSG);
	assert_int_equal(open_incident(4, true, INCIDENT_TOR, 1), -EBADMSG);
	assert_int_equal(open_incident(WIRE_OPENED, false, INCIDENT_TOR, 1), -EBADMSG);
}

static void
every_string_has_the_limit(void **state)
{
	const unsigned fields[] = { INCIDENT_TOR, INCIDENT_PART_TYPE, INCIDENT_PART,
		INCIDENT_PLACE, INCIDENT_KIND, INCIDENT_SENTENCE, INCIDENT_EVIDENCE,
		INCIDENT_SEVERITY };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		assert_int_equal(
		    open_incident(WIRE_OPENED, true, fields[i], WIRE_MAX_STRING - 1),
		    0);
		assert_int_equal(
		    open_incident(WIRE_OPENED, true, fields[i], WIRE_MAX_STRING),
		    -EMSGSIZE);
	}
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_incident bad = incident;
	struct wire_bytes out = { NULL, 0 };
	char text[WIRE_MAX_STRING + 1];

	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING] = 0;
	bad.evidence_json = text;
	assert_int_equal(wire_write_incident(writer, &bad, &out), -EMSGSIZE);
	bad = incident;
	bad.head.region = text;
	assert_int_equal(wire_write_incident(writer, &bad, &out), -EMSGSIZE);
	bad = incident;
	bad.state = 0;
	assert_int_equal(wire_write_incident(writer, &bad, &out), -EINVAL);
	bad.state = WIRE_RESOLVED + 1;
	assert_int_equal(wire_write_incident(writer, &bad, &out), -EINVAL);
	assert_null(out.data);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_INCIDENT, "incident", write_incident, expect_incident },
		{ WIRE_INCIDENT, "incident_severity", write_incident_severity,
		    expect_incident_severity },
		{ WIRE_INCIDENT, "incident_flapping", write_incident_flapping,
		    expect_incident_flapping },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_and_head_are_checked),
		cmocka_unit_test(every_string_has_the_limit),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}

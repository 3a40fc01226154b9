#include "tor-aggregator/otlp/otlp_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static struct otlp_body body;
static struct evbuffer *out;

static int
setup(void **state)
{
	const struct otlp_resource resource = { .instance = "agg-1", .region = "r1" };

	out = evbuffer_new();
	otlp_body_begin(&body, out, &resource, (rm_wall_t){ 2000000000 },
	    (rm_wall_t){ 1000000000 });
	return 0;
}

static int
teardown(void **state)
{
	evbuffer_free(out);
	return 0;
}

static json_t *
finish(void)
{
	json_t *json;

	assert_int_equal(otlp_body_end(&body), 0);
	json = json_loadb((const char *)evbuffer_pullup(out, -1),
	    evbuffer_get_length(out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

static void
assert_holds(const json_t *json, const char *wanted)
{
	char *have = json_dumps(json, JSON_COMPACT);

	if (strstr(have, wanted) == NULL)
		fail_msg("%s is not in %s", wanted, have);
	free(have);
}

#define LABEL(key, value) \
	"{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"

static void
a_gauge_has_attributes_and_a_time(void **state)
{
	const struct otlp_metric metric = { "x.y", "s", "What.", false };
	json_t *json;

	otlp_body_metric(&body, &metric);
	otlp_body_value(&body, "tor=\"t1\",host=\"h1\"", "quantile=\"0.5\"", 0.125);
	otlp_body_value(&body, "tor=\"t1\"", "", 2);
	json = finish();
	assert_holds(json,
	    "{\"name\":\"x.y\",\"unit\":\"s\",\"description\":\"What.\",\"gauge\":{"
	    "\"dataPoints\":[{\"attributes\":[" LABEL("tor", "t1") "," LABEL(
		"host", "h1") "," LABEL("quantile",
		"0.5") "],\"asDouble\":0.125,\"timeUnixNano\":\"2000000000\"},");
	assert_holds(json, "[" LABEL("tor", "t1") "]");
	assert_holds(json, LABEL("service.instance.id", "agg-1"));
	assert_holds(json, LABEL("rackmesh.region", "r1"));
	json_decref(json);
}

static void
a_sum_is_whole_cumulative_and_reports_since_when(void **state)
{
	const struct otlp_metric metric = { "x.probes", "{probe}", "Probes.", true };
	json_t *json;

	otlp_body_metric(&body, &metric);
	otlp_body_value(&body, "", "direction=\"to\"", 9007199254740991);
	json = finish();
	assert_holds(json,
	    "\"sum\":{\"dataPoints\":[{\"attributes\":[" LABEL("direction",
		"to") "],\"startTimeUnixNano\":\"1000000000\","
		      "\"asInt\":\"9007199254740991\",\"timeUnixNano\":\"2000000000\"}]"
		      ","
		      "\"aggregationTemporality\":2,\"isMonotonic\":true}");
	json_decref(json);
}

static void
a_metric_without_a_value_is_left_out(void **state)
{
	struct otlp_metric metric = { "x.first", "", "", false };
	const json_t *metrics;
	json_t *json;

	otlp_body_metric(&body, &metric);
	otlp_body_value(&body, "", "a=\"b\"", NAN);
	metric = (struct otlp_metric){ "x.second", "", "", true };
	otlp_body_metric(&body, &metric);
	otlp_body_value(&body, "", "a=\"b\"", 1);
	metric = (struct otlp_metric){ "x.third", "", "", false };
	otlp_body_metric(&body, &metric);
	json = finish();
	metrics = json_object_get(
	    json_array_get(
		json_object_get(
		    json_array_get(json_object_get(json, "resourceMetrics"), 0),
		    "scopeMetrics"),
		0),
	    "metrics");
	assert_int_equal(json_array_size(metrics), 1);
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(metrics, 0), "name")),
	    "x.second");
	assert_holds(json, "\"isMonotonic\":true");
	json_decref(json);
}

static void
a_message_without_metrics_is_valid(void **state)
{
	json_t *json = finish();

	assert_holds(json, "\"metrics\":[]");
	json_decref(json);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gauge_has_attributes_and_a_time),
		TEST(a_sum_is_whole_cumulative_and_reports_since_when),
		TEST(a_metric_without_a_value_is_left_out),
		TEST(a_message_without_metrics_is_valid),
	};

	return cmocka_run_group_tests_name("otlp_body", tests, NULL, NULL);
}

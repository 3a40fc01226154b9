#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/buffer.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/metrics.h"

static double
read_double(const void *arg)
{
	return *(const double *)arg;
}

/* The caller frees the text. */
static char *
render(const struct rm_metrics *metrics)
{
	struct evbuffer *out = evbuffer_new();
	size_t len;
	char *text;

	assert_non_null(out);
	assert_int_equal(rm_metrics_render(metrics, out), 0);
	len = evbuffer_get_length(out);
	text = calloc(1, len + 1);
	assert_non_null(text);
	evbuffer_remove(out, text, len);
	evbuffer_free(out);
	return text;
}

static void
metrics_of_one_name_stay_together_under_one_head(void **state)
{
	uint64_t ok = 3, bad = UINT64_MAX, other = 0, ns = 1500000000;
	struct rm_metrics *metrics;
	double queue = 0.1;
	char *text;

	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(
	    rm_metrics_counter(metrics, &ok, "a_total", "class=\"ok\"", "of a", &ok),
	    0);
	assert_int_equal(
	    rm_metrics_counter(metrics, &ok, "b_total", "", "of b", &other), 0);
	assert_int_equal(
	    rm_metrics_counter(metrics, &bad, "a_total", "class=\"bad\"", "no", &bad),
	    0);
	assert_int_equal(
	    rm_metrics_gauge(metrics, &ok, "c", "", "of c", read_double, &queue), 0);
	assert_int_equal(
	    rm_metrics_counter_ns(metrics, &ok, "d_seconds_total", "", "of d", &ns), 0);
	other++;

	text = render(metrics);
	assert_string_equal(text, "# HELP a_total of a\n"
				  "# TYPE a_total counter\n"
				  "a_total{class=\"ok\"} 3\n"
				  "a_total{class=\"bad\"} 18446744073709551615\n"
				  "# HELP b_total of b\n"
				  "# TYPE b_total counter\n"
				  "b_total 1\n"
				  "# HELP c of c\n"
				  "# TYPE c gauge\n"
				  "c 0.1\n"
				  "# HELP d_seconds_total of d\n"
				  "# TYPE d_seconds_total counter\n"
				  "d_seconds_total 1.5\n");
	free(text);

	rm_metrics_forget(metrics, &ok);
	text = render(metrics);
	assert_string_equal(text, "# HELP a_total no\n"
				  "# TYPE a_total counter\n"
				  "a_total{class=\"bad\"} 18446744073709551615\n");
	free(text);
	rm_metrics_free(metrics);
}

static void
the_same_metric_twice_is_refused(void **state)
{
	struct rm_metrics *metrics;
	uint64_t value = 0;

	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a", "x=\"1\"", "", &value), 0);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a", "x=\"1\"", "", &value), -EEXIST);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a", "x=\"2\"", "", &value), 0);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a b", "", "", &value), -EINVAL);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "", "", "", &value), -EINVAL);
	rm_metrics_free(metrics);
}

static void
numbers_that_are_not_finite_have_their_names(void **state)
{
	const double values[] = { NAN, INFINITY, -INFINITY };
	const char *const names[] = { "a", "b", "c" };
	struct rm_metrics *metrics;
	char *text;

	assert_int_equal(rm_metrics_new(&metrics), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rm_metrics_gauge(metrics, NULL, names[i], "", "h",
				     read_double, &values[i]),
		    0);
	text = render(metrics);
	assert_string_equal(text, "# HELP a h\n# TYPE a gauge\na NaN\n"
				  "# HELP b h\n# TYPE b gauge\nb +Inf\n"
				  "# HELP c h\n# TYPE c gauge\nc -Inf\n");
	free(text);
	rm_metrics_free(metrics);
}

static void
labels_are_copied_and_a_thousand_metrics_fit(void **state)
{
	struct rm_metrics *metrics;
	uint64_t value = 1;
	char labels[32];

	assert_int_equal(rm_metrics_new(&metrics), 0);
	for (int i = 0; i < 1000; i++) {
		snprintf(labels, sizeof(labels), "n=\"%d\"", i);
		assert_int_equal(rm_metrics_counter(metrics, i % 2 ? &value : NULL,
				     i % 3 ? "a" : "b", labels, "h", &value),
		    0);
	}
	snprintf(labels, sizeof(labels), "n=\"%d\"", 500);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a", labels, "h", &value), -EEXIST);
	rm_metrics_forget(metrics, NULL);
	assert_int_equal(
	    rm_metrics_counter(metrics, NULL, "a", labels, "h", &value), 0);
	rm_metrics_free(metrics);
}

static void
report_three(struct rm_metrics_out *out, const void *arg)
{
	const double *value = arg;

	rm_metrics_series(out, "n=\"1\"", "", *value);
	rm_metrics_series(out, "n=\"2\"", "quantile=\"0.5\"", 2e-05);
	rm_metrics_series(out, "", "n=\"3\"", NAN);
}

static void
report_nothing(struct rm_metrics_out *out, const void *arg)
{
}

static void
series_of_a_family_are_reported_at_every_rendering(void **state)
{
	static const struct rm_metrics_family family = { "a_seconds", "summary", "of a",
		report_three };
	static const struct rm_metrics_family nobody = { "b", "gauge", "of b",
		report_nothing };
	struct rm_metrics *metrics;
	double value = 4;
	char *text;

	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(rm_metrics_family(metrics, &value, &family, &value), 0);
	assert_int_equal(rm_metrics_family(metrics, &value, &nobody, NULL), 0);
	assert_int_equal(rm_metrics_family(metrics, NULL, &nobody, NULL), -EEXIST);
	value++;
	text = render(metrics);
	assert_string_equal(text, "# HELP a_seconds of a\n"
				  "# TYPE a_seconds summary\n"
				  "a_seconds{n=\"1\"} 5\n"
				  "a_seconds{n=\"2\",quantile=\"0.5\"} 2e-05\n"
				  "a_seconds{n=\"3\"} NaN\n"
				  "# HELP b of b\n"
				  "# TYPE b gauge\n");
	free(text);
	rm_metrics_forget(metrics, &value);
	text = render(metrics);
	assert_string_equal(text, "");
	free(text);
	rm_metrics_free(metrics);
}

static void
build_info_reports_the_version_of_a_program(void **state)
{
	char long_name[METRICS_LABEL_BYTES + 1];
	struct rm_metrics *metrics;
	char *text;

	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(rm_metrics_build_info(metrics, "host-agent"), 0);
	assert_int_equal(rm_metrics_build_info(metrics, "host-agent"), -EEXIST);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(rm_metrics_build_info(metrics, long_name), -EINVAL);

	text = render(metrics);
	assert_string_equal(text, "# HELP rackmesh_build_info Always 1; the labels are "
				  "the version and the program\n"
				  "# TYPE rackmesh_build_info gauge\n"
				  "rackmesh_build_info{version=\"" RACKMESH_VERSION
				  "\",component=\"host-agent\"} 1\n");
	free(text);
	rm_metrics_free(metrics);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_one_name_stay_together_under_one_head),
		cmocka_unit_test(the_same_metric_twice_is_refused),
		cmocka_unit_test(numbers_that_are_not_finite_have_their_names),
		cmocka_unit_test(labels_are_copied_and_a_thousand_metrics_fit),
		cmocka_unit_test(series_of_a_family_are_reported_at_every_rendering),
		cmocka_unit_test(build_info_reports_the_version_of_a_program),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}

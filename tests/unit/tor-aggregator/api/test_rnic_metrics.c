#include "tor-aggregator/api/rnic_metrics.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <event2/buffer.h>

#include "rackmesh/metrics/metrics.h"
#include "tests/unit/tor-aggregator/rack_fixture.h"
#include "tor-aggregator/otlp/otlp_body.h"

#define MS RM_NS_PER_MS
#define NO_MEMBER SIZE_MAX

struct shown {
	struct rack_fixture *f;
	struct rm_metrics *metrics;
	struct rnic_metrics rnics;
	char *text;
};

static struct rack_fixture
    *clock_of; /* for the clock, whose callback has no argument */

static rm_mono_t
fixture_now(void)
{
	return clock_of->now;
}

static struct shown
show(struct rack_fixture *f)
{
	return (struct shown){ .f = f };
}

static void
open_registry(struct shown *shown)
{
	clock_of = shown->f;
	shown->rnics = (struct rnic_metrics){ &shown->f->rack, 1, fixture_now };
	assert_int_equal(rm_metrics_new(&shown->metrics), 0);
	assert_int_equal(rnic_metrics_register(&shown->rnics, shown->metrics), 0);
}

static size_t
render(struct shown *shown)
{
	struct evbuffer *out = evbuffer_new();
	size_t len;

	assert_int_equal(rm_metrics_render(shown->metrics, out), 0);
	len = evbuffer_get_length(out);
	free(shown->text);
	shown->text = calloc(1, len + 1);
	assert_non_null(shown->text);
	evbuffer_remove(out, shown->text, len);
	evbuffer_free(out);
	return len;
}

static void
finish(struct shown *shown)
{
	free(shown->text);
	rm_metrics_free(shown->metrics);
	fixture_rack_free(shown->f);
}

static void
assert_text(const struct shown *shown, const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	if (strstr(shown->text, whole) == NULL)
		fail_msg("no line has %s", line);
}

static void
assert_silent(const struct shown *shown, const char *name)
{
	if (strstr(shown->text, name) != NULL)
		fail_msg("a line has %s", name);
}

/* One second in which every member sends `each` probes four times. With a dead member
 * all send to the next one, and its probes are lost in both directions; else to all
 * others in turn. */
static void
second(struct rack_fixture *f, size_t members, size_t each, size_t dead)
{
	struct wire_result results[FIXTURE_MAX];

	for (int tick = 0; tick < 20; tick++) {
		f->now.ns += 50 * MS;
		for (size_t src = 0; tick % 5 == 0 && src < members; src++) {
			for (size_t i = 0; i < each; i++) {
				const size_t step =
				    dead == NO_MEMBER ? 1 + i % (members - 1) : 1;
				const size_t dst = (src + step) % members;
				const bool lost = src == dead || dst == dead;

				results[i] = fixture_result(f, src, 0x100 + dst,
				    500 * MS, lost ? WIRE_NO_REPLY : WIRE_OK);
			}
			assert_int_equal(
			    fixture_batch(f, src, ++f->seq[src], results, each), 0);
		}
		fixture_tick(f);
	}
}

static size_t
count_lines(const char *text, const char *start)
{
	size_t count = 0;

	for (const char *at = text; at != NULL && *at != '\0';
	     at = strchr(at, '\n') == NULL ? NULL : strchr(at, '\n') + 1)
		count += strncmp(at, start, strlen(start)) == 0;
	return count;
}

#define H1 "{tor=\"t1\",host=\"h1\",device=\"r0\""

static void
an_unprobed_rack_shows_health_and_no_figures(void **state)
{
	struct shown shown = show(fixture_rack(3, 0));

	open_registry(&shown);
	render(&shown);
	assert_text(&shown, "rackmesh_rnic_health" H1 ",health=\"unknown\"} 1");
	assert_text(&shown, "rackmesh_rnic_probes_total" H1 ",direction=\"from\"} 0");
	assert_silent(&shown, "\nrackmesh_rnic_loss_ratio{");
	assert_silent(&shown, "\nrackmesh_rnic_network_rtt_seconds{");
	assert_silent(&shown, "\nrackmesh_rnic_last_probe_age_seconds{");
	finish(&shown);
}

static void
each_rnic_shows_times_losses_health_and_age(void **state)
{
	struct shown shown = show(fixture_rack(4, 0));
	double p50;

	open_registry(&shown);
	for (int s = 0; s < 65; s++)
		second(shown.f, 4, 20, NO_MEMBER);
	render(&shown);
	assert_int_equal(
	    sscanf(strstr(shown.text,
		       "\nrackmesh_rnic_network_rtt_seconds" H1 ",quantile=\"0.5\"} "),
		"%*[^}]} %lf", &p50),
	    1);
	assert_true(p50 > 19.8e-6 && p50 < 20.2e-6); /* the sketch is accurate to 1 % */
	assert_int_equal(
	    count_lines(shown.text, "rackmesh_rnic_responder_delay_seconds" H1), 2);
	assert_text(&shown, "rackmesh_rnic_health" H1 ",health=\"good\"} 1");
	assert_text(&shown, "rackmesh_rnic_loss_ratio" H1 ",direction=\"from\"} 0");
	assert_text(
	    &shown, "rackmesh_rnic_probes_lost_total" H1 ",direction=\"to\"} 0");
	assert_int_equal(
	    count_lines(shown.text, "rackmesh_rnic_last_probe_age_seconds{"), 4);
	assert_text(&shown, "# TYPE rackmesh_rnic_network_rtt_seconds summary");
	assert_text(&shown, "# TYPE rackmesh_rnic_probes_total counter");
	finish(&shown);
}

/* Member 0 probes 1, and 1 probes 2. All probes that 1 sends and all that 2 should
 * receive are lost; those to 1 arrive. */
static void
losses_are_reported_by_direction(void **state)
{
	struct shown shown = show(fixture_rack(4, 0));

	open_registry(&shown);
	for (int s = 0; s < 6; s++)
		second(shown.f, 4, 20, 2);
	render(&shown);
	assert_text(&shown, "rackmesh_rnic_loss_ratio" H1 ",direction=\"from\"} 1");
	assert_text(&shown, "rackmesh_rnic_loss_ratio" H1 ",direction=\"to\"} 0");
	finish(&shown);
}

static void
racks_show_their_hosts_and_incidents_by_kind(void **state)
{
	struct shown shown = show(fixture_rack(4, 0));

	open_registry(&shown);
	shown.f->states[3] = HOST_PAUSED;
	tor_rack_slowed(shown.f->rack, 2);
	for (int s = 0; s < 5; s++)
		second(shown.f, 4, 20, NO_MEMBER);
	tor_rack_certificate(shown.f->rack, 1, FIXTURE_WALL / RM_NS_PER_S + 3600);
	for (int s = 0; s < 5; s++)
		second(shown.f, 4, 20, NO_MEMBER);
	render(&shown);
	assert_text(&shown, "rackmesh_rack_hosts{tor=\"t1\"} 4");
	assert_text(&shown, "rackmesh_rack_hosts_ok{tor=\"t1\"} 3");
	assert_text(&shown, "rackmesh_rack_hosts_paused{tor=\"t1\"} 1");
	assert_text(&shown, "rackmesh_rack_hosts_slowed{tor=\"t1\"} 2");
	assert_text(&shown, "rackmesh_rack_blind{tor=\"t1\"} 0");
	assert_text(&shown,
	    "rackmesh_rack_incidents_open{tor=\"t1\",kind=\"certificate-ending\"} 1");
	assert_text(
	    &shown, "rackmesh_rack_incidents_open{tor=\"t1\",kind=\"rnic-down\"} 0");
	finish(&shown);
}

static void
a_rack_without_a_host_that_is_seen_is_blind(void **state)
{
	struct shown shown = show(fixture_rack(2, 0));

	open_registry(&shown);
	shown.f->states[0] = shown.f->states[1] = HOST_AGENT_DOWN;
	for (int s = 0; s < 5; s++)
		for (int tick = 0; tick < 20; tick++) {
			shown.f->now.ns += 50 * MS;
			fixture_tick(shown.f);
		}
	render(&shown);
	assert_text(&shown, "rackmesh_rack_blind{tor=\"t1\"} 1");
	finish(&shown);
}

/* The same rack, registered many times, stands for many racks. */
static void
rnics_beyond_the_bound_are_left_out_and_counted(void **state)
{
	struct shown shown = show(fixture_rack(200, 0));
	struct tor_rack *racks[11];

	open_registry(&shown);
	for (size_t i = 0; i < 11; i++)
		racks[i] = shown.f->rack;
	shown.rnics.racks = racks;
	shown.rnics.rack_count = 11;
	render(&shown);
	assert_int_equal(
	    count_lines(shown.text, "rackmesh_rnic_health{"), RNIC_METRICS_MAX);
	assert_text(&shown, "rackmesh_rnics_left_out 152");
	finish(&shown);
}

#define ROUNDS 20

static void
sixty_four_rnics_cost_fourteen_series_each(void **state)
{
	struct shown shown = show(fixture_rack(64, 0));
	size_t bytes = 0;
	clock_t begun; /* CPU time of this process, independent of other load */

	open_registry(&shown);
	for (int s = 0; s < 65; s++)
		second(shown.f, 64, 4, NO_MEMBER);
	begun = clock();
	for (int i = 0; i < ROUNDS; i++)
		bytes = render(&shown);
	printf("64 RNICs: %zu bytes, %.0f us\n", bytes,
	    (double)(clock() - begun) * 1e6 / CLOCKS_PER_SEC / ROUNDS);
	assert_int_equal(count_lines(shown.text, "rackmesh_rnic_"), 14 * 64);
	finish(&shown);
}

/* ---- export to an OpenTelemetry collector ---- */

static char *export(struct shown *shown, int64_t now_s)
{
	const struct otlp_resource resource = { .instance = "agg-1", .region = "r1" };
	const rm_wall_t now = { now_s * RM_NS_PER_S };
	struct evbuffer *out = evbuffer_new();
	char *text;

	assert_int_equal(rnic_metrics_export(&shown->rnics, &resource, now, out), 0);
	text =
	    strndup((const char *)evbuffer_pullup(out, -1), evbuffer_get_length(out));
	evbuffer_free(out);
	return text;
}

static void
assert_since(struct shown *shown, int64_t now_s, int64_t since_s)
{
	char *text = export(shown, now_s), wanted[64];

	snprintf(wanted, sizeof(wanted),
	    "\"startTimeUnixNano\":\"%" PRId64 "000000000\"", since_s);
	if (strstr(text, wanted) == NULL)
		fail_msg("no text has %s", wanted);
	free(text);
}

static void
sums_that_restart_have_a_new_start_time(void **state)
{
	struct shown shown = show(fixture_rack(4, 0));

	open_registry(&shown);
	shown.rnics.since = (rm_wall_t){ 100 * RM_NS_PER_S };
	assert_since(&shown, 160, 100);
	assert_since(&shown, 220, 100);
	/* h3 has left the rack. */
	tor_rack_leave(shown.f->rack, "h3");
	fixture_plan(shown.f->plan, 2, 3, 0);
	tor_rack_plan(shown.f->rack, &shown.f->plan->view, shown.f->now);
	for (size_t i = 0; i < 4; i++)
		agent_place(shown.f->agent[i], &shown.f->rack, 1);
	assert_int_equal(tor_rack_counts(shown.f->rack)->renumbered, 1);
	/* The times do not begin before the last export. */
	assert_since(&shown, 280, 220);
	assert_since(&shown, 340, 220);
	/* The clock was set back. */
	assert_since(&shown, 50, 50);
	finish(&shown);
}

static void
a_message_of_all_that_is_shown_is_bounded(void **state)
{
	struct shown shown = show(fixture_rack(64, 0));
	struct tor_rack *racks[32];
	clock_t begun;
	size_t bytes;
	char *text;

	open_registry(&shown);
	for (int s = 0; s < 65; s++)
		second(shown.f, 64, 4, NO_MEMBER);
	for (size_t i = 0; i < 32; i++)
		racks[i] = shown.f->rack;
	shown.rnics.racks = racks;
	shown.rnics.rack_count = 32;
	begun = clock();
	text = export(&shown, 100);
	bytes = strlen(text);
	printf("%d RNICs: %zu bytes, %.0f us\n", RNIC_METRICS_MAX, bytes,
	    (double)(clock() - begun) * 1e6 / CLOCKS_PER_SEC);
	assert_true(bytes < 12 << 20);
	free(text);
	finish(&shown);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unprobed_rack_shows_health_and_no_figures),
		cmocka_unit_test(each_rnic_shows_times_losses_health_and_age),
		cmocka_unit_test(losses_are_reported_by_direction),
		cmocka_unit_test(racks_show_their_hosts_and_incidents_by_kind),
		cmocka_unit_test(a_rack_without_a_host_that_is_seen_is_blind),
		cmocka_unit_test(rnics_beyond_the_bound_are_left_out_and_counted),
		cmocka_unit_test(sixty_four_rnics_cost_fourteen_series_each),
		cmocka_unit_test(sums_that_restart_have_a_new_start_time),
		cmocka_unit_test(a_message_of_all_that_is_shown_is_bounded),
	};

	return cmocka_run_group_tests_name("rnic_metrics", tests, NULL, NULL);
}

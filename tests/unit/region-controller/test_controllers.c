/* Two controllers of one region over a fake etcd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "controller_fixture.h"
#include "rackmesh/http/http_client.h"
#include "tests/support/fake_etcd.h"

#define KEY(rest) "/rackmesh/lab/" rest
#define SECRET "0123456789abcdef0123456789abcdef\n"

struct pair {
	struct fixture
	    f; /* its controller is the one that the aggregator connects to now */
	struct fake_etcd etcd;
	struct region_controller *both[2];
	const char *more; /* further options of etcd; NULL: none */
	/* secrets of the epochs of probe keys; NULL: probes are not authenticated */
	const char *epoch_s[2];
};

static int
setup_pair(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	void *fixture = NULL;

	if (p == NULL || setup(&fixture) < 0)
		return -1;
	p->f = *(struct fixture *)fixture;
	free(fixture);
	p->f.agg.loop = p->f.loop;
	assert_int_equal(fake_etcd_new(rm_loop_base(p->f.loop), &p->etcd), 0);
	*state = p;
	return 0;
}

static void
start_one(struct pair *p, size_t i)
{
	struct controller_config config;
	struct rm_error error = { 0 };
	char text[1024];

	snprintf(text, sizeof(text),
	    "name: c%zu\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:0\netcd: "
	    "{endpoints: ['%s'], "
	    "timeout_ms: 500, relist_s: 1%s}\nsettle_ms: 60000\n"
	    "http: {listen: '127.0.0.1:0', socket: %s%zu}\n",
	    i + 1, p->etcd.url, p->more != NULL ? p->more : "", p->f.socket, i + 1);
	if (p->epoch_s[i] != NULL) {
		const size_t len = strlen(text);
		char secret[sizeof(p->f.config) + 8];

		snprintf(secret, sizeof(secret), "%s.secret", p->f.config);
		assert_int_equal(rm_file_replace_secret(
				     secret, (const uint8_t *)SECRET, strlen(SECRET)),
		    0);
		snprintf(text + len, sizeof(text) - len,
		    "probe_keys: {secret_file: %s, epoch_s: %s}\n", secret,
		    p->epoch_s[i]);
	}
	write_file(p->f.config, text);
	if (controller_config_read(&config, p->f.config, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(region_controller_new(p->f.loop, &config, &p->both[i]), 0);
	p->f.controller = p->both[i];
}

static void
stop_one(struct pair *p, size_t i)
{
	region_controller_free(p->both[i]);
	if (p->f.controller == p->both[i])
		p->f.controller = NULL;
	p->both[i] = NULL;
}

static int
teardown_pair(void **state)
{
	struct pair *p = *state;
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		stop_one(p, i);
		snprintf(path, sizeof(path), "%s%zu", p->f.socket, i + 1);
		unlink(path);
	}
	p->f.controller = NULL;
	fake_etcd_clear(&p->etcd);
	*state = &p->f; /* `f` is the first member, so teardown() frees the pair */
	return teardown(state);
}

/* ---- HTTP ---- */

struct answer {
	bool done;
	long status;
	char text[1 << 16];
};

static void
on_answer(const struct rm_http_answer *from, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->status = from->r == 0 ? from->status : 0;
	snprintf(answer->text, sizeof(answer->text), "%s", from->body);
}

/* body NULL: a GET, else a POST. */
static struct answer
ask(struct pair *p, size_t i, const char *path, const char *body)
{
	struct rm_http_client *client = NULL;
	struct answer answer = { 0 };
	char url[256];

	snprintf(url, sizeof(url), "unix:%s%zu:%s", p->f.socket, i + 1, path);
	assert_int_equal(rm_http_client_new(p->f.loop, &client), 0);
	assert_int_equal(rm_http_client_send(client, url, "text/plain", body,
			     body == NULL ? 0 : strlen(body), LOOPBACK_PATIENCE_NS,
			     on_answer, &answer),
	    0);
	LOOPBACK_WAIT(p->f.loop, answer.done);
	rm_http_client_free(client);
	return answer;
}

static bool
shows(struct pair *p, size_t i, const char *path, const char *what)
{
	struct answer answer = ask(p, i, path, NULL);

	return strstr(answer.text, what) != NULL;
}

#define WAIT_SHOWS(p, i, path, what)                                            \
	for (rm_mono_t end_ = rm_mono_add(rm_mono_now(), LOOPBACK_PATIENCE_NS); \
	     !shows(p, i, path, what);) {                                       \
		assert_true(rm_mono_since(end_, rm_mono_now()) > 0);            \
		loopback_run(p->f.loop, 20 * RM_NS_PER_MS);                     \
	}

static void
leads(struct pair *p, size_t i)
{
	WAIT_SHOWS(p, i, "/v1/leader", "\"leading\":true");
}

static void
import(struct pair *p, size_t i, unsigned tors)
{
	char *text = region_clos_text(tors, 2);

	assert_int_equal(ask(p, i, "/v1/topology/import", text).status, 200);
	free(text);
}

/* Both controllers run, c1 leads, and the aggregator has the plans of two racks of
 * four. */
static void
begin(struct pair *p)
{
	start_one(p, 0);
	leads(p, 0);
	import(p, 0, 2);
	agg_serves(&p->f.agg, "tor1");
	agg_serves(&p->f.agg, "tor2");
	agg_hello(&p->f, &p->f.agg);
	assert_true(p->f.agg.welcome);
	agg_register_rack(&p->f.agg, "tor1", 100, 4);
	agg_register_rack(&p->f.agg, "tor2", 200, 4);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.members[0] == 4 && p->f.agg.members[1] == 4);
	start_one(p, 1);
	WAIT_SHOWS(p, 1, "/v1/leader", "\"leader\":\"c1\"");
	WAIT_SHOWS(p, 1, "/v1/racks", "\"plan_version\":");
}

static void
dial(struct pair *p, size_t i)
{
	p->f.controller = p->both[i];
	p->f.agg.controller = i == 0 ? "c1" : "c2";
	agg_hello(&p->f, &p->f.agg);
}

/* ---- tests ---- */

static void
versions_are_revisions_of_the_keys(void **state)
{
	struct pair *p = *state;
	char version[64];

	begin(p);
	assert_non_null(fake_etcd_value(&p->etcd, KEY("pinglist/tor1")));
	assert_true(p->f.agg.held[0].plan_version <= (uint64_t)p->etcd.revision);
	snprintf(version, sizeof(version), "\"plan_version\":%llu",
	    (unsigned long long)p->f.agg.held[0].plan_version);
	assert_true(shows(p, 1, "/v1/racks", version));
	assert_non_null(fake_etcd_value(&p->etcd, KEY("rnic/00:00:00:00:00:64")));
}

static void
a_standby_refuses_and_names_the_leader(void **state)
{
	struct pair *p = *state;

	begin(p);
	dial(p, 1);
	assert_false(p->f.agg.welcome);
	assert_string_equal(p->f.agg.refused, "standby: c1 leads");
	assert_int_equal(ask(p, 1, "/v1/brake?rate_permille=0", "").status, 409);
	assert_int_equal(ask(p, 1, "/v1/topology/import", "region: lab").status, 409);
	assert_true(shows(p, 1, "/readyz", "standby: c1 leads"));
	assert_int_equal(ask(p, 1, "/readyz", NULL).status, 200);
}

static void
a_failover_changes_nothing_that_has_not_changed(void **state)
{
	struct pair *p = *state;
	unsigned txns;
	size_t plans;

	begin(p);
	plans = p->f.agg.plans;
	stop_one(p, 0);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.closed);
	leads(p, 1);
	txns = p->etcd.txns;
	dial(p, 1);
	assert_true(p->f.agg.welcome);
	agg_register_rack(&p->f.agg, "tor1", 100, 4);
	loopback_run(p->f.loop, 500 * RM_NS_PER_MS);
	assert_int_equal(p->f.agg.plans, plans);
	assert_int_equal(p->etcd.txns, txns);
	/* Planning continues at once, and versions still grow. */
	agg_register_rack(&p->f.agg, "tor1", 150, 1);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.members[0] == 5);
	assert_true(p->f.agg.pings > 0);
}

static void
a_restarted_agent_is_known_to_every_controller(void **state)
{
	struct pair *p = *state;
	struct wire_rnic rnic;
	size_t before;

	begin(p);
	before = p->f.agg.taken[1];
	rnic = region_roce_rnic(200, "tor2-h1", "tor2", REGION_V4);
	agg_register(&p->f.agg, &rnic); /* a target for the other RNIC */
	LOOPBACK_WAIT(p->f.loop, p->f.agg.taken[1] > before);
	before = p->f.agg.taken[1];
	rnic = region_roce_rnic(100, "tor1-h1", "tor1", REGION_V4);
	agg_register(&p->f.agg, &rnic);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.taken[1] > before);
	before = p->f.agg.taken[1];
	rnic.incarnation = 8; /* a restart that gets the same QPN again */
	agg_register(&p->f.agg, &rnic);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.taken[1] > before);
	LOOPBACK_WAIT(
	    p->f.loop, strstr(fake_etcd_value(&p->etcd, KEY("rnic/00:00:00:00:00:64")),
			   "\"incarnation\":\"0000000000000008\"") != NULL);
}

static void
the_brake_reaches_all_and_stays_after_a_change_of_the_leader(void **state)
{
	struct pair *p = *state;
	uint64_t version;

	begin(p);
	assert_int_equal(
	    ask(p, 0, "/v1/brake?rate_permille=250&by=me", "").status, 200);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.brake.rate_permille == 250);
	version = p->f.agg.brake.version;
	p->f.agg.brake.rate_permille = 7;
	stop_one(p, 0);
	leads(p, 1);
	dial(p, 1);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.brake.rate_permille == 250);
	assert_true(p->f.agg.brake.version == version);
	assert_true(shows(p, 1, "/v1/brake", "\"by\":\"me\""));
	fake_etcd_put(&p->etcd, KEY("brake"), "{\"rate_permille\":0}");
	LOOPBACK_WAIT(p->f.loop, p->f.agg.brake.rate_permille == 0);
	assert_true(p->f.agg.brake.version > version);
}

/* Otherwise the version would be below those that aggregators hold, and be ignored. */
static void
a_brake_changed_in_etcd_by_hand_gets_a_newer_version(void **state)
{
	struct pair *p = *state;
	uint64_t version;

	begin(p);
	assert_int_equal(ask(p, 0, "/v1/brake?rate_permille=250", "").status, 200);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.brake.rate_permille == 250);
	version = p->f.agg.brake.version;
	/* Neither controller that knew the old value runs when the value changes. */
	stop_one(p, 0);
	stop_one(p, 1);
	fake_etcd_put(&p->etcd, KEY("brake"), "{\"rate_permille\":0,\"by\":\"me\"}");
	start_one(p, 1);
	leads(p, 1);
	dial(p, 1);
	LOOPBACK_WAIT(p->f.loop,
	    p->f.agg.brake.rate_permille == 0 && p->f.agg.brake.version > version);
	assert_true(shows(p, 1, "/v1/brake", "\"by\":\"me\""));
	version = p->f.agg.brake.version;
	fake_etcd_delete(&p->etcd, KEY("brake"));
	LOOPBACK_WAIT(p->f.loop, fake_etcd_value(&p->etcd, KEY("brake")) != NULL &&
				     p->f.agg.brake.rate_permille == 1000);
	assert_true(p->f.agg.brake.version > version);
}

static void
garbage_in_etcd_leaves_the_old_topology(void **state)
{
	struct pair *p = *state;

	begin(p);
	fake_etcd_put(&p->etcd, KEY("topology/region"), "region: lab\nswitches: 7\n");
	WAIT_SHOWS(p, 0, "/readyz", "the old one stays in use");
	assert_int_equal(ask(p, 0, "/readyz", NULL).status, 503);
	assert_true(shows(p, 0, "/v1/racks", "\"tor2\""));
	fake_etcd_put(&p->etcd, KEY("rnic/x"), "garbage");
	fake_etcd_put(&p->etcd, KEY("brake"), "garbage");
	import(p, 0, 3);
	WAIT_SHOWS(p, 0, "/readyz", "plans are published");
	WAIT_SHOWS(p, 1, "/v1/racks", "\"tor3\"");
}

static void
a_plan_damaged_in_etcd_is_written_again(void **state)
{
	struct pair *p = *state;

	begin(p);
	fake_etcd_put(&p->etcd, KEY("pinglist/tor1"), "{}");
	LOOPBACK_WAIT(
	    p->f.loop, strlen(fake_etcd_value(&p->etcd, KEY("pinglist/tor1"))) > 2);
	agg_register_rack(&p->f.agg, "tor1", 150, 1);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.members[0] == 5);
}

static void
a_bad_topology_is_refused_with_its_place(void **state)
{
	struct pair *p = *state;
	struct answer answer;

	begin(p);
	answer = ask(p, 0, "/v1/topology/import", "region: lab\nswitches: 7\n");
	assert_int_equal(answer.status, 422);
	assert_non_null(strstr(answer.text, "topology:2:11: "));
	answer = ask(p, 0, "/v1/topology/import",
	    "region: lob\nswitches: [{name: t, role: tor}]\n");
	assert_int_equal(answer.status, 422);
	assert_non_null(strstr(answer.text, "lob"));
	assert_true(shows(p, 0, "/readyz", "plans are published"));
}

static void
a_controller_without_etcd_starts_waits_and_reports_it(void **state)
{
	struct pair *p = *state;

	p->etcd.silent = true;
	start_one(p, 0);
	assert_true(shows(p, 0, "/readyz", "waiting for etcd"));
	assert_int_equal(ask(p, 0, "/readyz", NULL).status, 503);
	assert_int_equal(ask(p, 0, "/v1/racks", NULL).status, 503);
	agg_hello(&p->f, &p->f.agg);
	assert_string_equal(p->f.agg.refused, "standby: no leader yet");
	p->etcd.silent = false;
	leads(p, 0);
}

static void
a_leader_whose_key_is_gone_from_etcd_steps_down(void **state)
{
	struct pair *p = *state;

	begin(p);
	p->etcd.keepalive_lost = true;
	LOOPBACK_WAIT(p->f.loop, p->f.agg.closed);
	assert_false(shows(p, 0, "/v1/leader", "\"leading\":true"));
	p->etcd.keepalive_lost = false;
}

/* An operator has set up another etcd: it is empty, and counts revisions from 1. */
static void
an_empty_etcd_gets_everything_back_and_versions_grow(void **state)
{
	struct pair *p = *state;
	uint64_t version;

	begin(p);
	version = p->f.agg.held[0].plan_version;
	fake_etcd_replace(&p->etcd);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.closed);
	LOOPBACK_WAIT(
	    p->f.loop, fake_etcd_value(&p->etcd, KEY("topology/region")) != NULL);
	LOOPBACK_WAIT(p->f.loop,
	    fake_etcd_value(&p->etcd, KEY("rnic/00:00:00:00:00:64")) != NULL);
	if (!shows(p, 0, "/v1/leader", "\"leading\":true"))
		leads(p, 1);
	dial(p, shows(p, 0, "/v1/leader", "\"leading\":true") ? 0 : 1);
	assert_true(p->f.agg.welcome);
	agg_register_rack(&p->f.agg, "tor1", 150, 1);
	LOOPBACK_WAIT(p->f.loop, p->f.agg.members[0] == 5);
	assert_true(p->f.agg.held[0].plan_version > version);
}

static bool
has(struct pair *p, const char *key, const char *expected)
{
	const char *value = fake_etcd_value(&p->etcd, key);

	return value != NULL && strstr(value, expected) != NULL;
}

/* An older snapshot, which includes the leader's key and lease. */
static void
a_restored_etcd_gets_missing_data_from_a_leader_that_stays(void **state)
{
	static const char *const rnic = KEY("rnic/00:00:00:00:00:64");
	struct pair *p = *state;

	begin(p);
	p->etcd.no_events = true;
	fake_etcd_delete(&p->etcd, KEY("topology/region"));
	fake_etcd_delete(&p->etcd, rnic);
	p->etcd.no_events = false;
	p->etcd.cluster_id++;
	fake_etcd_cut(&p->etcd);
	LOOPBACK_WAIT(p->f.loop, has(p, KEY("topology/region"), "tor1"));
	LOOPBACK_WAIT(p->f.loop, has(p, rnic, "tor1-h1"));
	assert_true(shows(p, 0, "/v1/leader", "\"leading\":true"));
}

static void
a_registration_damaged_in_etcd_is_written_again(void **state)
{
	static const char *const key = KEY("rnic/00:00:00:00:00:64");
	struct pair *p = *state;
	struct wire_rnic rnic;
	unsigned txns;
	char *old;

	begin(p);
	old = strdup(fake_etcd_value(&p->etcd, key));
	assert_non_null(old);
	rnic = region_rnic(100, "tor1-h1", "tor1", REGION_V4);
	rnic.incarnation = 8;
	agg_register(&p->f.agg, &rnic);
	LOOPBACK_WAIT(p->f.loop, has(p, key, "\"0000000000000008\""));
	fake_etcd_put(&p->etcd, key, old);
	free(old);
	LOOPBACK_WAIT(p->f.loop, has(p, key, "\"0000000000000008\""));
	fake_etcd_delete(&p->etcd, key);
	LOOPBACK_WAIT(p->f.loop, has(p, key, "\"0000000000000008\""));
	/* A notification of the controller's own write must not cause another write. */
	loopback_run(p->f.loop, 300 * RM_NS_PER_MS);
	txns = p->etcd.txns;
	loopback_run(p->f.loop, 500 * RM_NS_PER_MS);
	assert_int_equal(p->etcd.txns, txns);
}

static void
a_leader_key_without_a_lease_is_reported(void **state)
{
	struct pair *p = *state;

	fake_etcd_put(&p->etcd, KEY("leader"), "{\"name\":\"x\"}");
	start_one(p, 0);
	WAIT_SHOWS(p, 0, "/readyz", "etcdctl del /rackmesh/lab/leader");
	assert_true(shows(p, 0, "/v1/leader", "etcdctl del /rackmesh/lab/leader"));
	assert_int_equal(ask(p, 0, "/readyz", NULL).status, 503);
	fake_etcd_delete(&p->etcd, KEY("leader"));
	leads(p, 0);
	assert_false(shows(p, 0, "/readyz", "etcdctl del"));
	/* A leader key with a lease is not reported. */
	loopback_run(p->f.loop, 2500 * RM_NS_PER_MS);
	assert_false(shows(p, 0, "/readyz", "etcdctl del"));
}

static void
the_leader_compacts_etcd(void **state)
{
	struct pair *p = *state;
	int64_t before;

	p->more = ", compact_after_s: 1";
	begin(p);
	before = p->etcd.revision;
	for (unsigned i = 0; p->etcd.compacted_to < before; i++) {
		assert_true(i < 600);
		fake_etcd_put(&p->etcd, KEY("x"), "1");
		loopback_run(p->f.loop, 100 * RM_NS_PER_MS);
	}
	assert_true(p->etcd.compacted_to < p->etcd.revision);
}

static void
a_controller_whose_probe_keys_differ_from_the_leaders_reports_it(void **state)
{
	static const char same[] = "\"probe_keys_differ\":false",
			  other[] = "\"probe_keys_differ\":true";
	struct pair *p = *state;
	char secret[sizeof(p->f.config) + 8];

	p->epoch_s[0] = p->epoch_s[1] = "86400";
	start_one(p, 0);
	leads(p, 0);
	start_one(p, 1);
	WAIT_SHOWS(p, 1, "/v1/leader", "\"leader\":\"c1\"");
	assert_true(shows(p, 1, "/v1/leader", same));
	stop_one(p, 1);
	p->epoch_s[1] = "43200";
	start_one(p, 1);
	WAIT_SHOWS(p, 1, "/v1/leader", other);
	assert_true(shows(p, 0, "/v1/leader", same));
	stop_one(p, 0);
	leads(p, 1);
	assert_true(shows(p, 1, "/v1/leader", same));
	snprintf(secret, sizeof(secret), "%s.secret", p->f.config);
	unlink(secret);
}

static void
write_secrets(struct pair *p, const char *text)
{
	char secret[sizeof(p->f.config) + 8];

	snprintf(secret, sizeof(secret), "%s.secret", p->f.config);
	assert_int_equal(
	    rm_file_replace_secret(secret, (const uint8_t *)text, strlen(text)), 0);
}

static void
the_next_probe_secret_is_read_by_a_reload_and_another_one_is_refused(void **state)
{
	static const char same[] = "\"probe_keys_differ\":false",
			  other[] = "\"probe_keys_differ\":true",
			  kept[] = "rackmesh_config_last_reload_successful 1",
			  refused[] = "rackmesh_config_last_reload_successful 0";
	struct pair *p = *state;
	char next[256], from[RM_WALL_TEXT], secret[sizeof(p->f.config) + 8];

	rm_wall_format((rm_wall_t){ rm_wall_now().ns + 3 * 86400 * RM_NS_PER_S }, from);
	snprintf(
	    next, sizeof(next), "%sanother-%.32s from %.19sZ\n", SECRET, SECRET, from);
	p->epoch_s[0] = p->epoch_s[1] = "86400";
	start_one(p, 0);
	leads(p, 0);
	start_one(p, 1);
	WAIT_SHOWS(p, 1, "/v1/leader", "\"leader\":\"c1\"");
	write_secrets(p, next);
	region_controller_reload(p->both[1]);
	assert_true(shows(p, 1, "/v1/leader", other));
	region_controller_reload(p->both[0]);
	WAIT_SHOWS(p, 1, "/v1/leader", same);
	assert_true(shows(p, 0, "/v1/leader", "\"leading\":true"));
	assert_true(shows(p, 1, "/metrics", kept));
	write_secrets(p, "a secret of no epoch that any agent has\n");
	region_controller_reload(p->both[1]);
	assert_true(shows(p, 1, "/v1/leader", same));
	assert_true(shows(p, 1, "/metrics", refused));
	snprintf(secret, sizeof(secret), "%s.secret", p->f.config);
	unlink(secret);
}

static void
a_controller_that_does_not_lead_is_a_standby_as_long_as_it_runs(void **state)
{
	static const char standby[] = "\"connected\":false,\"standby\":true";
	struct pair *p = *state;

	begin(p);
	WAIT_SHOWS(p, 0, "/v1/versions", standby);
	assert_true(shows(p, 0, "/v1/versions", "\"name\":\"c2\""));
	/* The key of c2 is deleted by hand; c2 writes it again. */
	fake_etcd_delete(&p->etcd, KEY("controller/c2"));
	LOOPBACK_WAIT(
	    p->f.loop, fake_etcd_value(&p->etcd, KEY("controller/c2")) != NULL);
	WAIT_SHOWS(p, 0, "/v1/versions", standby);
	stop_one(p, 1);
	LOOPBACK_WAIT(
	    p->f.loop, fake_etcd_value(&p->etcd, KEY("controller/c2")) == NULL);
	WAIT_SHOWS(p, 0, "/v1/versions", "\"" RACKMESH_VERSION "\":1}");
	assert_false(shows(p, 0, "/v1/versions", standby));
}

/* Only a release that writes keys is known to have gone if it has none. */
static void
a_controller_of_another_release_without_a_key_may_be_a_standby(void **state)
{
	static const char gone[] = "\"name\":\"c8\",\"version\":\"" RACKMESH_VERSION
				   "\",\"since\":\"1970-01-01T00:00:05.000Z\","
				   "\"connected\":false,\"standby\":false",
			  unknown[] = "\"name\":\"c9\",\"version\":\"0.0\",\"since\":"
				      "\"1970-01-01T00:00:05.000Z\",\"connected\":"
				      "false,\"standby\":null";
	const struct wire_version peers[] = {
		{ WIRE_COMPONENT_CONTROLLER, "c8", RACKMESH_VERSION, 5, false },
		{ WIRE_COMPONENT_CONTROLLER, "c9", "0.0", 5, false },
	};
	const struct wire_versions versions = { .peers = peers, .peer_count = 2 };
	struct pair *p = *state;
	struct wire_bytes bytes;

	begin(p);
	agg_send(
	    &p->f.agg, wire_write_versions(p->f.agg.writer, &versions, &bytes), &bytes);
	WAIT_SHOWS(p, 0, "/v1/versions", unknown);
	assert_true(shows(p, 0, "/v1/versions", gone));
}

static void
controllers_beyond_the_limit_are_counted(void **state)
{
	struct pair *p = *state;
	char key[64];

	begin(p);
	WAIT_SHOWS(p, 0, "/v1/versions", "\"name\":\"c2\"");
	for (int i = 3; i <= 18; i++) {
		snprintf(key, sizeof(key), KEY("controller/c%d"), i);
		fake_etcd_put(&p->etcd, key, "{\"version\":\"0.9\"}");
	}
	WAIT_SHOWS(p, 0, "/metrics",
	    "rackmesh_controller_etcd_controllers_left_out_total 2\n");
	assert_true(shows(p, 0, "/v1/versions", "\"name\":\"c16\""));
	assert_false(shows(p, 0, "/v1/versions", "\"name\":\"c17\""));
}

#define TEST_PAIR(fn) cmocka_unit_test_setup_teardown(fn, setup_pair, teardown_pair)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_PAIR(versions_are_revisions_of_the_keys),
		TEST_PAIR(a_standby_refuses_and_names_the_leader),
		TEST_PAIR(
		    a_controller_that_does_not_lead_is_a_standby_as_long_as_it_runs),
		TEST_PAIR(
		    a_controller_of_another_release_without_a_key_may_be_a_standby),
		TEST_PAIR(controllers_beyond_the_limit_are_counted),
		TEST_PAIR(a_failover_changes_nothing_that_has_not_changed),
		TEST_PAIR(a_restarted_agent_is_known_to_every_controller),
		TEST_PAIR(the_brake_reaches_all_and_stays_after_a_change_of_the_leader),
		TEST_PAIR(a_brake_changed_in_etcd_by_hand_gets_a_newer_version),
		TEST_PAIR(garbage_in_etcd_leaves_the_old_topology),
		TEST_PAIR(a_plan_damaged_in_etcd_is_written_again),
		TEST_PAIR(a_bad_topology_is_refused_with_its_place),
		TEST_PAIR(a_controller_without_etcd_starts_waits_and_reports_it),
		TEST_PAIR(a_leader_whose_key_is_gone_from_etcd_steps_down),
		TEST_PAIR(an_empty_etcd_gets_everything_back_and_versions_grow),
		TEST_PAIR(a_restored_etcd_gets_missing_data_from_a_leader_that_stays),
		TEST_PAIR(a_registration_damaged_in_etcd_is_written_again),
		TEST_PAIR(a_leader_key_without_a_lease_is_reported),
		TEST_PAIR(the_leader_compacts_etcd),
		TEST_PAIR(
		    the_next_probe_secret_is_read_by_a_reload_and_another_one_is_refused),
		TEST_PAIR(
		    a_controller_whose_probe_keys_differ_from_the_leaders_reports_it),
	};

	return cmocka_run_group_tests_name("controllers", tests, NULL, NULL);
}

#include "tor-aggregator/hypervisor/hypervisor_collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/lookup.h"
#include "tor-aggregator/hypervisor/esxi.h"
#include "tor-aggregator/hypervisor/hypervisor_config.h"
#include "tor-aggregator/hypervisor/ssh_client.h"

#define MOST_NS (30 * RM_NS_PER_S)      /* that one reading may take */
#define BACKOFF_NS (600 * RM_NS_PER_S)  /* longest time between two attempts */
#define REFUSED_NS (1800 * RM_NS_PER_S) /* least time after a refused key */
#define START_NS (2 * RM_NS_PER_S)      /* the first readings of all begin within */

struct hypervisor_collector {
	struct hypervisor_collector_options options;
	struct rm_endpoint endpoint;
	int64_t interval_ns;
	struct rm_timer *turn, *deadline;
	struct rm_timer *attempt; /* at one of several addresses */

	/* Of the reading under way. */
	bool reading;
	rm_mono_t begun, end; /* end: the deadline */
	struct rm_lookup *lookup;
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t address_count, address; /* the next one to be tried */
	struct ssh_client *client;
	struct esxi *esxi;

	struct hypervisor_nics *nics;
	struct hypervisor_shown shown;
	rm_mono_t ended; /* the last whole reading */
	struct hypervisor_collector_counts counts;
	uint64_t failed_in_a_row;
	bool refused; /* the last one: the key */
	struct rm_why error;
};

static void on_turn(void *arg);
static void on_deadline(void *arg);
static void on_attempt(void *arg);

int
hypervisor_collector_new(const struct hypervisor_collector_options *options,
    struct hypervisor_collector **ret)
{
	struct hypervisor_collector *collector = calloc(1, sizeof(*collector));
	const struct hypervisor_config *config = options->config;
	int r;

	if (collector == NULL)
		return -ENOMEM;
	collector->options = *options;
	collector->interval_ns = options->interval_ns > 0
				     ? options->interval_ns
				     : (int64_t)config->interval_s * RM_NS_PER_S;
	collector->shown.name = config->name;
	collector->shown.address = config->address;
	collector->shown.wait_ns = collector->interval_ns;
	collector->nics = hypervisor_nics_new();
	r = collector->nics == NULL ? -ENOMEM
				    : hypervisor_endpoint(config, &collector->endpoint);
	if (r == 0)
		r = rm_timer_new(options->loop, on_turn, collector, &collector->turn);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_deadline, collector, &collector->deadline);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_attempt, collector, &collector->attempt);
	if (r < 0) {
		hypervisor_collector_free(collector);
		return r;
	}
	rm_timer_after(
	    collector->turn, (int64_t)(rm_random_u64() % (uint64_t)START_NS));
	*ret = collector;
	return 0;
}

/* ---- the end of a reading ---- */

static void
hang_up(struct hypervisor_collector *collector)
{
	collector->reading = false;
	rm_timer_stop(collector->deadline);
	rm_timer_stop(collector->attempt);
	rm_lookup_free(collector->lookup);
	collector->lookup = NULL;
	ssh_client_free(collector->client);
	collector->client = NULL;
	esxi_free(collector->esxi);
	collector->esxi = NULL;
}

void
hypervisor_collector_free(struct hypervisor_collector *collector)
{
	if (collector == NULL)
		return;
	if (collector->attempt != NULL)
		hang_up(collector);
	rm_timer_free(collector->turn);
	rm_timer_free(collector->deadline);
	rm_timer_free(collector->attempt);
	hypervisor_nics_free(collector->nics);
	free(collector);
}

/* The interval, then twice that, four times that ... After a refused key it is at least
 * REFUSED_NS. */
static void
wait_next(struct hypervisor_collector *collector)
{
	const int64_t most =
	    collector->interval_ns > BACKOFF_NS ? collector->interval_ns : BACKOFF_NS;
	int64_t wait = collector->interval_ns;

	for (uint64_t i = 1; i < collector->failed_in_a_row && wait < most; i++)
		wait *= 2;
	if (wait > most)
		wait = most;
	if (collector->refused && wait < REFUSED_NS)
		wait = REFUSED_NS;
	collector->shown.wait_ns = wait;
	rm_timer_at(collector->turn, rm_mono_add(collector->begun, wait));
}

/* why: "": r says it. */
static void
fail(struct hypervisor_collector *collector, int r, const char *why)
{
	const struct rm_why before = collector->error;

	collector->refused = r == -EKEYREJECTED;
	rm_why(&collector->error, 0, "%s%s", why[0] != '\0' ? why : strerror(-r),
	    collector->refused ? "; the next attempt is in 30 minutes, or at once "
				 "after a reload (SIGHUP), because ESXi locks a user "
				 "after 5 failed logins"
			       : "");
	hang_up(collector);
	collector->counts.failed++;
	collector->shown.up = false;
	/* A host key that has changed must not hide behind an hour without an answer.
	 */
	if (collector->failed_in_a_row++ == 0 ||
	    strcmp(before.text, collector->error.text) != 0)
		rm_log_warn(0,
		    "hypervisor %s: cannot read its counters at %s: %s; the last "
		    "values stay, and it is tried again, less and less often",
		    collector->shown.name, collector->shown.address,
		    collector->error.text);
	wait_next(collector);
}

static void
succeed(struct hypervisor_collector *collector)
{
	struct hypervisor_shown *shown = &collector->shown;

	const rm_mono_t now = rm_mono_now();

	/* Values come at the end of a reading, after look-up and login. */
	shown->interval_ns =
	    shown->at.ns == 0 ? 0 : rm_mono_since(now, collector->ended);
	collector->ended = now;
	shown->at = collector->begun;
	shown->took_ns = rm_mono_since(now, collector->begun);
	collector->counts.took_ns += (uint64_t)shown->took_ns;
	collector->error.text[0] = '\0';
	if (!shown->up)
		rm_log_info("hypervisor %s: counters read: %zu NICs, after %llu "
			    "readings that failed",
		    shown->name, hypervisor_nics_told(collector->nics),
		    (unsigned long long)collector->failed_in_a_row);
	shown->up = true;
	collector->refused = false;
	collector->failed_in_a_row = 0;
	hang_up(collector);
	wait_next(collector);
}

static void
on_deadline(void *arg)
{
	struct hypervisor_collector *collector = arg;
	struct rm_why why = { .text = "" };

	if (collector->client == NULL)
		rm_why(&why, 0, "its name could not be resolved in time");
	else
		rm_why(&why, 0, "%s in time", ssh_client_stage(collector->client));
	fail(collector, -ETIMEDOUT, why.text);
}

/* ---- the dialogue ---- */

static int
on_output(const void *data, size_t len, bool error, void *arg)
{
	struct hypervisor_collector *collector = arg;

	return error ? esxi_feed_error(collector->esxi, data, len)
		     : esxi_feed(collector->esxi, data, len);
}

static void dial_next(struct hypervisor_collector *collector, int r);

static void
on_end(int r, bool connected, const char *why, void *arg)
{
	struct hypervisor_collector *collector = arg;
	struct rm_why said = { .text = "" };

	if (!connected) {
		dial_next(collector, r);
		return;
	}
	if (r == -EMSGSIZE)
		rm_why(&said, r, "it prints more than %u bytes", ESXI_MAX_BYTES);
	else if (r < 0)
		rm_why(&said, r, "%s", why);
	else
		r = esxi_end(collector->esxi, &said);
	if (r < 0)
		fail(collector, r, said.text);
	else
		succeed(collector);
}

static int
dial(struct hypervisor_collector *collector, const struct rm_address *address,
    struct rm_why *why)
{
	const struct hypervisor_config *config = collector->options.config;
	const struct ssh_client_callbacks callbacks = { on_output, on_end, collector };
	struct ssh_client_options options = {
		.loop = collector->options.loop,
		.address = *address,
		.host = config->address,
		.port = (unsigned)config->port,
		.user = config->user,
		.known_hosts = config->known_hosts,
		.command = esxi_command,
	};
	uint8_t *key;
	size_t len;
	int r = hypervisor_check_files(config, why);

	if (r == 0)
		r = rm_file_read_secret(
		    config->key, HYPERVISOR_KEY_BYTES, &key, &len, why);
	if (r < 0)
		return r;
	options.key = (const char *)key;
	r = ssh_client_new(&options, &callbacks, why, &collector->client);
	explicit_bzero(key, len);
	free(key);
	return r;
}

/* Of the time that is left: a host that swallows what is sent to it must leave some to
 * the addresses after it. The last one has the deadline. */
static void
limit_attempt(struct hypervisor_collector *collector)
{
	const int64_t left = rm_mono_since(collector->end, rm_mono_now());
	const size_t after = collector->address_count - collector->address;

	if (after == 0)
		rm_timer_stop(collector->attempt);
	else
		rm_timer_after(collector->attempt, left / (int64_t)(after + 1));
}

/* From the next address on. r: how it went with the one before. */
static void
dial_next(struct hypervisor_collector *collector, int r)
{
	struct rm_why why = { .text = "" };

	while (collector->address < collector->address_count) {
		ssh_client_free(collector->client);
		collector->client = NULL;
		r = dial(collector, &collector->addresses[collector->address++], &why);
		if (r == 0) {
			limit_attempt(collector);
			return;
		}
	}
	fail(collector, r, why.text);
}

/* Only addresses that do not answer at all make room for others. */
static void
on_attempt(void *arg)
{
	struct hypervisor_collector *collector = arg;

	if (strcmp(ssh_client_stage(collector->client), "no connection") == 0)
		dial_next(collector, -ETIMEDOUT);
}

/* ---- the begin of a reading ---- */

static void
on_lookup(const struct rm_lookup_answer *answer, void *arg)
{
	struct hypervisor_collector *collector = arg;

	collector->lookup = NULL;
	if (answer->r < 0 || answer->count == 0) {
		fail(collector, answer->r, answer->why);
		return;
	}
	collector->address_count = answer->count;
	memcpy(collector->addresses, answer->addresses,
	    answer->count * sizeof(answer->addresses[0]));
	dial_next(collector, 0);
}

static void
on_turn(void *arg)
{
	struct hypervisor_collector *collector = arg;
	const int64_t most = collector->interval_ns / 4 * 3;
	int r = 0;

	if (collector->reading) /* we stood still: its deadline comes at once */
		return;
	collector->counts.reads++;
	collector->reading = true;
	collector->begun = rm_mono_now();
	collector->end = rm_mono_add(collector->begun, most < MOST_NS ? most : MOST_NS);
	rm_timer_at(collector->deadline, collector->end);
	collector->address = 0;
	collector->esxi = esxi_new(collector->nics, &collector->counts.nics);
	if (collector->esxi == NULL) {
		fail(collector, -ENOMEM, "");
	} else if (collector->endpoint.name[0] != '\0') {
		r = rm_lookup_new(collector->options.loop, &collector->endpoint,
		    on_lookup, collector, &collector->lookup);
		if (r < 0)
			fail(collector, r, "");
	} else {
		collector->addresses[0] = collector->endpoint.address;
		collector->address_count = 1;
		dial_next(collector, 0);
	}
}

void
hypervisor_collector_retry(struct hypervisor_collector *collector)
{
	if (collector->failed_in_a_row > 0 && !collector->reading)
		rm_timer_after(collector->turn, 0);
}

struct hypervisor_shown
hypervisor_collector_shown(const struct hypervisor_collector *collector)
{
	struct hypervisor_shown shown = collector->shown;

	shown.error = collector->error.text;
	shown.nics = collector->nics;
	return shown;
}

const struct hypervisor_collector_counts *
hypervisor_collector_counts(const struct hypervisor_collector *collector)
{
	return &collector->counts;
}

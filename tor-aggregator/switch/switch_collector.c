#include "tor-aggregator/switch/switch_collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_client.h"
#include "tor-aggregator/switch/nexus_list.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/sonic_client.h"
#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/switch_list.h"

#define LIMIT_NS (5 * RM_NS_PER_S)
/* longest time of a reading: a Nexus runs commands for it, which is slow */
#define NEXUS_LIMIT_NS (30 * RM_NS_PER_S)
#define NEXUS_BACKOFF_NS (300 * RM_NS_PER_S)

_Static_assert(SONIC_NEIGHBORS == NEXUS_NEIGHBORS && SONIC_OPTICS == NEXUS_OPTICS,
    "the same bits");

/* The readings of one ASIC, or of the whole switch if it has one address. */
struct asic {
	struct switch_collector *device;
	const char *address;
	struct rm_endpoint endpoint;
	struct collector *collector;
	struct sonic_client *sonic; /* NULL for a Nexus */
	struct nexus_client *nexus; /* NULL for SONiC */

	/* State of the running reading. */
	rm_mono_t begun;
	unsigned asked; /* bits of SONIC_* or NEXUS_* */

	/* Time of the last complete reading with neighbours, with optics, and with the
	 * settings of ports; ns 0: there was none. */
	rm_mono_t neighbors_at, optics_at, settings_at;
	struct switch_list *list;
	bool complete; /* the running reading is complete */
	/* Of the last reading that has ended: up, it was complete; down, it failed;
	 * continues, the one before was complete, too; ended, the lists were not merged
	 * since. */
	bool up, down, continues, ended;
};

struct switch_collector {
	struct switch_collector_options options;
	struct asic asics[1 + SWITCH_MAX_ASICS];
	size_t asic_count;

	/* If there are several ASICs: their ports in one list, and its times. */
	struct switch_list *merged;
	struct collector_shown shown;
	bool has_duplicates; /* the last merged lists had the same port */
	struct switch_exported exported;
	struct switch_counts counts;
};

static int begin(int64_t limit_ns, struct rm_error *error, void *arg);
static int begin_nexus(int64_t limit_ns, struct rm_error *error, void *arg);
static int dial(const struct rm_address *address, struct rm_error *error, void *arg);
static bool is_connected(const void *arg);
static void hang_up(void *arg);
static const char *stage(const void *arg);
static void on_nexus(int r, const char *reason, struct nexus_values *values, void *arg);
static void on_unreachable(int r, void *arg);
static void on_sonic(int r, const char *reason, struct sonic *sonic, void *arg);
static void merge_if_ended(struct switch_collector *device);

static int
new_nexus(struct asic *asic)
{
	const struct nexus_client_options options = {
		.http = asic->device->options.http,
		.worker = asic->device->options.worker,
		.config = asic->device->options.config,
		.done = on_nexus,
		.arg = asic,
	};

	return nexus_client_new(&options, &asic->nexus);
}

static int
new_sonic(struct asic *asic)
{
	const struct sonic_client_options options = {
		.loop = asic->device->options.loop,
		.password_file = asic->device->options.config->password_file,
		.unreachable = on_unreachable,
		.done = on_sonic,
		.arg = asic,
	};

	return sonic_client_new(&options, &asic->sonic);
}

static int64_t
interval_ns(const struct switch_collector *device)
{
	return device->options.interval_ns > 0
		   ? device->options.interval_ns
		   : (int64_t)device->options.config->interval_s * RM_NS_PER_S;
}

static int
new_collector(struct asic *asic)
{
	const struct switch_collector *device = asic->device;
	const bool nexus = asic->nexus != NULL;
	const struct collector_options options = {
		.loop = device->options.loop,
		.kind = device->options.of,
		.name = device->options.name,
		.address = asic->address,
		.own = device->options.own,
		.endpoint = &asic->endpoint,
		.values = "ports and queues",
		.left_out = device->options.config->asics.count > 0,
		.interval_ns = interval_ns(device),
		.limit_ns = nexus ? NEXUS_LIMIT_NS : LIMIT_NS,
		.backoff_ns = nexus ? NEXUS_BACKOFF_NS : 0,
		.callbacks = { nexus ? begin_nexus : begin, dial, is_connected, hang_up,
		    stage, asic },
	};

	return collector_new(&options, &asic->collector);
}

static int
add_asic(struct switch_collector *device, const char *address)
{
	struct asic *asic = &device->asics[device->asic_count++];
	int r;

	asic->device = device;
	asic->address = address;
	r = rm_endpoint_parse(address, &asic->endpoint);
	if (r == 0)
		r = device->options.config->kind == SWITCH_NEXUS ? new_nexus(asic)
								 : new_sonic(asic);
	return r < 0 ? r : new_collector(asic);
}

int
switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret)
{
	const struct rm_list *more = &options->config->asics;
	struct switch_collector *device = calloc(1, sizeof(*device));
	int r;

	if (device == NULL)
		return -ENOMEM;
	device->options = *options;
	r = add_asic(device, options->config->address);
	for (size_t i = 0; r == 0 && i < more->count; i++)
		r = add_asic(device, ((char *const *)more->items)[i]);
	if (r < 0)
		switch_collector_free(device);
	else
		*ret = device;
	return r;
}

void
switch_collector_free(struct switch_collector *device)
{
	size_t count;

	if (device == NULL)
		return;
	count = device->asic_count;
	device->asic_count = 0; /* the end of a reading merges no more */
	for (size_t i = 0; i < count; i++) {
		struct asic *asic = &device->asics[i];

		collector_free(asic->collector);
		nexus_client_free(asic->nexus);
		sonic_client_free(asic->sonic);
		switch_list_free(asic->list);
	}
	switch_list_free(device->merged);
	free(device);
}

static void
hang_up(void *arg)
{
	struct asic *asic = arg;

	/* A Nexus may take longer for the optical modules than a reading may last, or
	 * may refuse that command. Therefore the next readings are without modules, so
	 * that the counters are read. */
	if (asic->nexus != NULL && (asic->asked & SONIC_OPTICS) != 0)
		asic->optics_at = asic->begun;
	nexus_client_cancel(asic->nexus);
	sonic_client_end(asic->sonic);
	asic->continues = asic->complete && asic->up;
	asic->up = asic->complete;
	asic->down = !asic->complete;
	asic->ended = true;
	asic->complete = false;
	merge_if_ended(asic->device);
}

static bool
is_connected(const void *arg)
{
	const struct asic *asic = arg;

	return sonic_client_is_connected(asic->sonic);
}

static const char *
stage(const void *arg)
{
	const struct asic *asic = arg;

	return asic->nexus != NULL   ? "not all of its answer came"
	       : !is_connected(asic) ? "no connection"
				     : "not all answers came";
}

/* True: the interval has passed, or will have passed within half a reading, as readings
 * do not start at exact times. */
static bool
is_due(const struct asic *asic, rm_mono_t last, uint64_t interval_s, rm_mono_t now)
{
	return last.ns == 0 ||
	       rm_mono_since(now, last) >=
		   (int64_t)interval_s * RM_NS_PER_S - interval_ns(asic->device) / 2;
}

/* Decides what the reading requests beside counters: data that change slowly are read
 * less often. */
static unsigned
choose_questions(struct asic *asic, rm_mono_t now)
{
	const struct switch_config *config = asic->device->options.config;
	unsigned also = 0;

	asic->begun = now;
	if (is_due(asic, asic->neighbors_at, config->neighbors_interval_s, now))
		also |= SONIC_NEIGHBORS;
	if (is_due(asic, asic->optics_at, config->optics_interval_s, now))
		also |= SONIC_OPTICS;
	if (asic->nexus == NULL &&
	    is_due(asic, asic->settings_at, config->neighbors_interval_s, now))
		also |= SONIC_SETTINGS;
	asic->asked = also;
	return also;
}

/* Notes what was answered. What was not answered is requested again in the next
 * reading. */
static void
note_questions(struct asic *asic, unsigned answered)
{
	if ((answered & SONIC_NEIGHBORS) != 0)
		asic->neighbors_at = asic->begun;
	if ((answered & SONIC_OPTICS) != 0)
		asic->optics_at = asic->begun;
	if ((answered & SONIC_SETTINGS) != 0)
		asic->settings_at = asic->begun;
}

/* Takes ownership of the list. */
static void
succeed(struct asic *asic, struct switch_list *list)
{
	struct switch_collector *device = asic->device;
	struct switch_exported exported;

	switch_exported_choose(list, SWITCH_EXPORTED_MAX, &exported);
	switch_list_free(asic->list);
	asic->list = list;
	asic->complete = true;
	if (device->asic_count == 1)
		device->exported = exported;
	collector_succeed(asic->collector, switch_list_count(list));
}

/* ---- several ASICs ---- */

/* The times of the merged list: from the start of the first reading to the end of the
 * last one. The interval is the longest of those readings, so that no rate is
 * overestimated. */
static struct collector_shown
merged_times(const struct switch_collector *device)
{
	struct collector_shown all = { .up = true };
	rm_mono_t end = { 0 };

	for (size_t i = 0; i < device->asic_count; i++) {
		const struct asic *asic = &device->asics[i];
		const struct collector_shown one = collector_shown(asic->collector);
		const rm_mono_t ended = rm_mono_add(one.at, one.took_ns);

		if (!asic->ended || !asic->up)
			continue;
		if (all.at.ns == 0 || one.at.ns < all.at.ns)
			all.at = one.at;
		if (ended.ns > end.ns)
			end = ended;
		if (asic->continues && one.interval_ns > all.interval_ns)
			all.interval_ns = one.interval_ns;
	}
	all.took_ns = rm_mono_since(end, all.at);
	return all;
}

static void
note_duplicates(struct switch_collector *device, uint64_t before)
{
	const uint64_t count = device->counts.duplicates - before;

	if (count > 0 && !device->has_duplicates)
		rm_log_warn(0,
		    "%s %s: %llu ports are counted by two ASICs: the ASIC that is "
		    "first in "
		    "the config is used; is the same Redis listed twice?",
		    device->options.of, device->options.name,
		    (unsigned long long)count);
	device->has_duplicates = count > 0;
}

static void
merge(struct switch_collector *device)
{
	struct switch_share shares[1 + SWITCH_MAX_ASICS];
	const uint64_t before = device->counts.duplicates;
	struct switch_list *list;
	int r;

	for (size_t i = 0; i < device->asic_count; i++) {
		const struct asic *asic = &device->asics[i];

		shares[i] = (struct switch_share){ .list = asic->list,
			.taken = asic->ended && asic->up,
			.continues = asic->continues };
	}
	r = switch_list_merge(shares, device->asic_count, &device->counts, &list);
	if (r < 0) {
		rm_log_warn(r, "%s %s: cannot merge the counters of its ASICs",
		    device->options.of, device->options.name);
		return;
	}
	note_duplicates(device, before);
	switch_exported_choose(list, SWITCH_EXPORTED_MAX, &device->exported);
	switch_list_free(device->merged);
	device->merged = list;
	device->shown = merged_times(device);
}

/* Merges the lists when each ASIC has ended a reading since the last time. An ASIC that
 * failed is not waited for: if it hangs, the others are not delayed. */
static void
merge_if_ended(struct switch_collector *device)
{
	bool complete = false;

	if (device->asic_count < 2)
		return;
	for (size_t i = 0; i < device->asic_count; i++) {
		if (!device->asics[i].ended && !device->asics[i].down)
			return;
		complete |= device->asics[i].ended && device->asics[i].up;
	}
	if (complete)
		merge(device);
	for (size_t i = 0; i < device->asic_count; i++)
		device->asics[i].ended = false;
}

/* ---- SONiC ---- */

static void
on_unreachable(int r, void *arg)
{
	struct asic *asic = arg;

	collector_dial_next(asic->collector, r);
}

static void
on_sonic(int r, const char *reason, struct sonic *sonic, void *arg)
{
	struct asic *asic = arg;

	if (r < 0) {
		collector_fail(asic->collector, r, reason);
		return;
	}
	note_questions(asic, sonic_answered_also(sonic));
	succeed(asic, sonic_take_list(sonic));
}

static int
dial(const struct rm_address *address, struct rm_error *error, void *arg)
{
	const struct asic *asic = arg;

	return sonic_client_dial(asic->sonic, address);
}

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct asic *asic = arg;
	const int r =
	    sonic_client_begin(asic->sonic, choose_questions(asic, rm_mono_now()),
		asic->list, &asic->device->counts, error);

	return r < 0 ? r : collector_dial(asic->collector);
}

/* ---- a Nexus ---- */

static void
on_nexus(int r, const char *reason, struct nexus_values *values, void *arg)
{
	struct asic *asic = arg;
	struct rm_error reported = { .text = "" };
	struct switch_list *list = NULL;

	if (r == 0) {
		r = nexus_list(
		    values, asic->list, &asic->device->counts, &list, &reported);
		if (r == 0)
			note_questions(asic, nexus_values_also(values));
		nexus_values_free(values);
		reason = reported.text;
	}
	if (r < 0)
		collector_fail(asic->collector, r, reason);
	else
		succeed(asic, list);
}

static int
begin_nexus(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct asic *asic = arg;
	const unsigned also = choose_questions(asic, rm_mono_now());

	return nexus_client_ask(asic->nexus, also, limit_ns, error);
}

/* ---- for display ---- */

void
switch_collector_retry(struct switch_collector *device)
{
	for (size_t i = 0; i < device->asic_count; i++)
		collector_retry(device->asics[i].collector);
}

size_t
switch_collector_asics(const struct switch_collector *device)
{
	return device->asic_count;
}

const struct collector *
switch_collector_reading(const struct switch_collector *device, size_t asic)
{
	return device->asics[asic].collector;
}

struct switch_collector_shown
switch_collector_shown(const struct switch_collector *device)
{
	struct switch_collector_shown all = {
		.reading = collector_shown(device->asics[0].collector),
		.list = device->asics[0].list,
		.exported = device->exported,
	};

	if (device->asic_count == 1)
		return all;
	all.list = device->merged;
	all.reading.at = device->shown.at;
	all.reading.interval_ns = device->shown.interval_ns;
	all.reading.took_ns = device->shown.took_ns;
	for (size_t i = 1; i < device->asic_count && all.reading.up; i++) {
		const struct collector_shown one =
		    collector_shown(device->asics[i].collector);

		if (one.up)
			continue;
		all.reading.up = false;
		all.reading.address = one.address;
		all.reading.error = one.error;
	}
	return all;
}

const struct switch_counts *
switch_collector_counts(const struct switch_collector *device)
{
	return &device->counts;
}

#include "tor-aggregator/switch/switch_collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_client.h"
#include "tor-aggregator/switch/nexus_list.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/sonic_client.h"
#include "tor-aggregator/switch/switch_asics.h"
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
	struct switch_list *fresh; /* of the running reading, if it is complete */
	struct switch_asic *read;
};

struct switch_collector {
	struct switch_collector_options options;
	struct asic asics[1 + SWITCH_MAX_ASICS];
	struct switch_asic read[1 + SWITCH_MAX_ASICS];
	size_t asic_count;

	/* If there are several ASICs: their ports in one list, and its times. */
	struct switch_list *merged;
	struct switch_times times;
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
static void merge(struct switch_collector *device);

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
	struct asic *asic = &device->asics[device->asic_count];
	int r;

	asic->read = &device->read[device->asic_count++];
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
	device->asic_count = 0; /* a reading that ends now must not merge its list */
	for (size_t i = 0; i < count; i++) {
		struct asic *asic = &device->asics[i];

		collector_free(asic->collector);
		nexus_client_free(asic->nexus);
		sonic_client_free(asic->sonic);
		switch_asic_clear(asic->read);
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
	if (asic->fresh != NULL) {
		const struct collector_shown shown = collector_shown(asic->collector);
		const struct switch_times times = { shown.at, shown.ended,
			shown.took_ns, shown.interval_ns };

		switch_asic_succeed(asic->read, asic->fresh, &times);
		asic->fresh = NULL;
	} else {
		switch_asic_fail(asic->read);
	}
	if (asic->device->asic_count > 1)
		merge(asic->device);
	else
		asic->read->unused = false; /* its list is shown as it is */
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

/* False: the modules may be the reason why the last reading of a Nexus failed, see
 * hang_up. After several failures the pause between readings is longer than the
 * interval of modules, so they would be requested, and fail, each time. */
static bool
may_ask_optics(const struct asic *asic)
{
	return asic->nexus == NULL || !asic->read->down;
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
	if (may_ask_optics(asic) &&
	    is_due(asic, asic->optics_at, config->optics_interval_s, now))
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
	asic->fresh = list;
	if (device->asic_count == 1)
		device->exported = exported;
	collector_succeed(asic->collector, switch_list_count(list));
}

/* ---- several ASICs ---- */

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
	const uint64_t before = device->counts.duplicates;
	struct switch_list *list;
	const int r = switch_asics_merge(
	    device->read, device->asic_count, &device->counts, &list, &device->times);

	if (r < 0)
		rm_log_warn(r, "%s %s: cannot merge the counters of its ASICs",
		    device->options.of, device->options.name);
	if (r <= 0)
		return;
	note_duplicates(device, before);
	switch_exported_choose(list, SWITCH_EXPORTED_MAX, &device->exported);
	switch_list_free(device->merged);
	device->merged = list;
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
		asic->read->list, &asic->device->counts, error);

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
		    values, asic->read->list, &asic->device->counts, &list, &reported);
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
		.list = device->read[0].list,
		.exported = device->exported,
	};

	if (device->asic_count == 1)
		return all;
	all.list = device->merged;
	all.reading.at = device->times.at;
	all.reading.ended = device->times.ended;
	all.reading.interval_ns = device->times.interval_ns;
	all.reading.took_ns = device->times.took_ns;
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

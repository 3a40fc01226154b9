/* Writes the ToRs and aggregators that controllers name for this host into the config,
 * where the config has none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/controller/place.h"
#include "host-agent/controller/place_link.h"
#include "host-agent/host_agent_state.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"

#define ALONE_NS (15 * RM_NS_PER_S)

/* ---- to the config ---- */

static int
list_add(struct rm_list *list, const char *text)
{
	char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (items == NULL)
		return -ENOMEM;
	list->items = items;
	items[list->count] = strdup(text);
	if (items[list->count] == NULL)
		return -ENOMEM;
	list->count++;
	return 0;
}

/* The entry with that address, or a new one. */
static struct agent_aggregator_config *
aggregator_at(struct rm_list *list, const char *address)
{
	struct agent_aggregator_config *items = list->items;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(items[i].address, address) == 0)
			return &items[i];
	if (list->count == AGENT_MAX_AGGREGATORS)
		return NULL;
	items = realloc(items, (list->count + 1) * sizeof(*items));
	if (items == NULL)
		return NULL;
	list->items = items;
	items[list->count] =
	    (struct agent_aggregator_config){ .address = strdup(address) };
	return items[list->count].address == NULL ? NULL : &items[list->count++];
}

static int
place_aggregators_into(struct rm_list *list, const struct place *place)
{
	int r = 0;

	for (size_t i = 0; i < place_aggregators(place) && r == 0; i++) {
		struct agent_aggregator_config *entry;
		struct wire_tor_aggregator reported;

		place_aggregator(place, i, &reported);
		entry = aggregator_at(list, reported.address);
		if (entry == NULL)
			return list->count == AGENT_MAX_AGGREGATORS ? -E2BIG : -ENOMEM;
		r = list_add(&entry->tors, reported.tor);
	}
	return r;
}

int
agent_config_place(struct agent_config *config, const struct place *place)
{
	if (place == NULL || config->aggregators.count > 0)
		return 0;
	return place_aggregators_into(&config->aggregators, place);
}

/* ---- saves the place in the state folder, and loads it ---- */

int
agent_load_place(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	int r;

	if (config->controllers.count == 0)
		return 0;
	r = place_load(config->state_folder, &agent->place);
	if (r < 0 && r != -ENOENT)
		rm_log_warn(
		    r, "cannot read the saved ToRs and aggregators of this host");
	r = agent_config_place(&agent->config, agent->place);
	if (r < 0)
		rm_log_error(
		    r, "cannot use the ToRs and aggregators that a controller named");
	return r;
}

/* A restart of the agent is quick and rare, and it is needed: cables, aggregator
 * links and metrics all depend on the place. The new config must be valid, and the
 * place saved, before the restart. */
static void
agent_on_place(struct place *place, void *arg)
{
	struct host_agent *agent = arg;
	struct agent_config fresh;
	struct rm_error error = { 0 };
	int r;

	if (place_equal(place, agent->place)) {
		place_free(place);
		return;
	}
	/* a restart would resume probing; a later answer applies the change */
	if (agent->paused) {
		rm_log_info("ToRs and aggregators of this host: changed by a "
			    "controller: used when probing is resumed");
		place_free(place);
		return;
	}
	r = agent_config_read(&fresh, agent->config.path, &error);
	if (r == 0)
		r = agent_config_place(&fresh, place);
	if (r == 0)
		r = place_save(agent->config.state_folder, place);
	agent_config_clear(&fresh);
	place_free(place);
	if (r < 0) {
		rm_log_error(r,
		    "cannot restart with the ToRs and aggregators that a controller "
		    "named%s%s",
		    error.text[0] != '\0' ? ": " : "", error.text);
		return;
	}
	rm_log_info("ToRs and aggregators of this host: changed by a controller: the "
		    "agent restarts");
	rm_loop_again(agent->loop);
}

/* ---- the questions ---- */

static int
agent_metrics_place(struct host_agent *agent)
{
	const struct place_link_counts *c = place_link_counts(agent->place_link);
	static const char help[] =
	    "Requests to controllers for the place of this host, and their answers.";
	const struct rm_metric list[] = {
		{ "rackmesh_agent_places_total", "result=\"asked\"", help, &c->asked },
		{ "rackmesh_agent_places_total", "result=\"found\"", help, &c->placed },
		{ "rackmesh_agent_places_total", "result=\"unknown\"", help,
		    &c->unknown },
		{ "rackmesh_agent_places_total", "result=\"refused\"", help,
		    &c->refused },
	};

	return rm_metrics_counters(
	    agent->metrics, agent->place_link, list, sizeof(list) / sizeof(list[0]));
}

int
agent_start_place(struct host_agent *agent)
{
	const struct agent_config *config = &agent->config;
	char *const *controllers = config->controllers.items;
	struct rm_endpoint endpoints[AGENT_MAX_CONTROLLERS];
	const struct place_link_options options = {
		.controllers = endpoints,
		.controller_count = config->controllers.count,
		.host = config->host,
		.region = config->region,
		.incarnation = agent->incarnation,
		.tls = rm_credentials_tls(agent->credentials),
		.on_place = agent_on_place,
		.arg = agent,
	};
	int r = 0;

	agent->last_seen = rm_mono_now();
	if (config->controllers.count == 0)
		return 0;
	for (size_t i = 0; i < config->controllers.count && r == 0; i++)
		r = rm_endpoint_parse(controllers[i], &endpoints[i]);
	if (r == 0)
		r = place_link_new(agent->loop, &options, &agent->place_link);
	return r < 0 ? r : agent_metrics_place(agent);
}

void
agent_tick_place(struct host_agent *agent, rm_mono_t now)
{
	if (agent->place_link == NULL)
		return;
	for (size_t i = 0; i < agent->aggregator_link_count; i++)
		if (aggregator_link_has_session(agent->aggregator_links[i]))
			agent->last_seen = now;
	place_link_tick(
	    agent->place_link, rm_mono_since(now, agent->last_seen) > ALONE_NS, now);
}

void
agent_free_place(struct host_agent *agent)
{
	place_link_free(agent->place_link);
	place_free(agent->place);
}

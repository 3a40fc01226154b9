#include "tor-aggregator/switch/sonic.h"

#include <errno.h>
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "tor-aggregator/optics/sonic_optics.h"
#include "tor-aggregator/redis/redis_command.h"
#include "tor-aggregator/switch/sonic_settings.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

#define COUNTERS_DB "2"
#define APPL_DB "0"
#define CONFIG_DB "4"
#define STATE_DB "6"
#define STATE_PREFIX "PORT_TABLE/"
#define MAX_FIELDS 160 /* fields in one request */
#define NEIGHBOR_FIELDS 3
#define QUANTUM_BITS 512
#define SOURCE_QUANTA UINT16_MAX /* no alternative of a row has this number */

enum stage {
	AUTH,
	SELECT_COUNTERS,
	PORT_MAP,
	QUEUE_MAP,
	GROUP_MAP,
	VALUES, /* the counters of each object */
	SELECT_APPL,
	STATES, /* the state of each port */
	NEIGHBORS,
	SELECT_STATE,
	OPTICS, /* the optics of each port; the next stage, too */
	ALARMS,
	SELECT_CONFIG,
	SETTINGS, /* the settings of each port; the next two stages, too */
	QOS,
	DSCPS,
	DONE,
};

struct cursor { /* the position of one request in the reading */
	enum stage stage;
	size_t object;
};

/* the fields of one request, by the names in switch_rows[] */
struct fields {
	const char *prefix; /* prefix of the fields' names in the table */
	size_t count;
	char names[MAX_FIELDS][SWITCH_NAME_BYTES];
};

struct sonic {
	const char *password;
	/* bits of SONIC_*; failed: those answered with an error */
	unsigned also, failed;
	const struct switch_list *before;
	struct switch_counts *counts;
	struct switch_list *list;
	/* resets in this reading; not yet in counts, because the reading may fail */
	uint64_t resets;
	struct cursor asked, answered; /* the next request, and the next answer */
	/* the port's optics contain the alarm power, as in SONiC before 2023 */
	bool has_alarm[SWITCH_MAX_PORTS];
	/* of the port whose settings are read; maps: names of the ports' maps of DSCPs
	 */
	struct wire_settings settings[SWITCH_MAX_PORTS];
	char maps[SWITCH_MAX_PORTS][SONIC_MAP_BYTES];
	struct fields values[SWITCH_PARTS], states;
};

/* ---- the fields to request ---- */

static bool
is_state(const char *name)
{
	return strncmp(name, STATE_PREFIX, strlen(STATE_PREFIX)) == 0;
}

static bool
is_of_optics(const struct switch_row *row)
{
	return strncmp(row->sonic, SONIC_OPTICS_PREFIX, strlen(SONIC_OPTICS_PREFIX)) ==
	       0;
}

static bool
is_alarm(const struct switch_row *row)
{
	return strcmp(row->name, SONIC_ALARM_ROW) == 0;
}

static void
add_fields(
    struct fields *fields, const struct switch_row *row, unsigned priority, bool state)
{
	const char *text = row->sonic;
	char name[SWITCH_NAME_BYTES];

	while (switch_next_name(&text, priority, name) == 0)
		if (is_state(name) == state && fields->count < MAX_FIELDS)
			snprintf(fields->names[fields->count++], SWITCH_NAME_BYTES,
			    "%s", name + (state ? strlen(STATE_PREFIX) : 0));
}

static void
fill_fields(struct sonic *sonic)
{
	sonic->states.prefix = "PORT_TABLE";
	for (int part = 0; part < SWITCH_PARTS; part++)
		sonic->values[part].prefix = "COUNTERS";
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (is_of_optics(row))
			continue;
		for (unsigned i = 0; i < switch_row_values(row); i++) {
			add_fields(&sonic->values[row->part], row, i, false);
			if (row->part == SWITCH_PORT)
				add_fields(&sonic->states, row, i, true);
		}
	}
}

int
sonic_new(const char *password, unsigned also, const struct switch_list *before,
    struct switch_counts *counts, struct sonic **ret)
{
	struct sonic *sonic = calloc(1, sizeof(*sonic));

	if (sonic == NULL)
		return -ENOMEM;
	sonic->password = password;
	sonic->also = also;
	sonic->before = before;
	sonic->counts = counts;
	sonic->list = switch_list_new();
	if (sonic->list == NULL) {
		free(sonic);
		return -ENOMEM;
	}
	sonic->asked.stage = password[0] == '\0' ? SELECT_COUNTERS : AUTH;
	sonic->answered = sonic->asked;
	fill_fields(sonic);
	*ret = sonic;
	return 0;
}

void
sonic_free(struct sonic *sonic)
{
	if (sonic == NULL)
		return;
	switch_list_free(sonic->list);
	free(sonic);
}

/* ---- the order of the requests ---- */

static bool
is_select(enum stage stage)
{
	return stage == SELECT_STATE || stage == SELECT_CONFIG;
}

/* Moves to the next request: of a stage for all objects, or of a stage for ports only,
 * which are first in the list. There is at least one port, see close_list. */
static void
advance(const struct sonic *sonic, struct cursor *at)
{
	const size_t next = at->object + 1;

	if (next < switch_list_count(sonic->list) &&
	    (at->stage == VALUES ||
		(at->stage >= STATES && !is_select(at->stage) &&
		    switch_list_get(sonic->list, next)->part == SWITCH_PORT))) {
		at->object = next;
		return;
	}
	at->object = 0;
	at->stage++;
	if (at->stage == NEIGHBORS && (sonic->also & SONIC_NEIGHBORS) == 0)
		at->stage = SELECT_STATE;
	if (at->stage == SELECT_STATE && (sonic->also & SONIC_OPTICS) == 0)
		at->stage = SELECT_CONFIG;
	if (at->stage == SELECT_CONFIG && (sonic->also & SONIC_SETTINGS) == 0)
		at->stage = DONE;
}

static const char *
map_key(enum switch_part part)
{
	static const char *const keys[] = { "COUNTERS_PORT_NAME_MAP",
		"COUNTERS_QUEUE_NAME_MAP", "COUNTERS_PG_NAME_MAP" };

	return keys[part];
}

static int
ask_arguments(struct evbuffer *out, const char *verb, const char *what)
{
	const char *const arguments[] = { verb, what };

	return redis_command(out, arguments, 2);
}

static int
ask_fields(struct evbuffer *out, const struct fields *fields, const char *id)
{
	const char *arguments[2 + MAX_FIELDS];
	char key[SWITCH_ID_BYTES + 16];

	snprintf(key, sizeof(key), "%s:%s", fields->prefix, id);
	arguments[0] = "HMGET";
	arguments[1] = key;
	for (size_t i = 0; i < fields->count; i++)
		arguments[2 + i] = fields->names[i];
	return redis_command(out, arguments, 2 + fields->count);
}

static int
ask_neighbor(struct evbuffer *out, const char *port)
{
	char key[SWITCH_PORT_BYTES + 20];
	const char *const arguments[] = { "HMGET", key, "lldp_rem_sys_name",
		"lldp_rem_port_id", "lldp_rem_port_desc" };

	snprintf(key, sizeof(key), "LLDP_ENTRY_TABLE:%s", port);
	return redis_command(out, arguments, 2 + NEIGHBOR_FIELDS);
}

static int
ask_optics(struct evbuffer *out, const char *port)
{
	char key[SWITCH_PORT_BYTES + 24], fields[SONIC_OPTICS_FIELDS][16];
	const char *arguments[2 + SONIC_OPTICS_FIELDS] = { "HMGET", key };

	snprintf(key, sizeof(key), "TRANSCEIVER_DOM_SENSOR|%s", port);
	for (size_t i = 0; i < SONIC_OPTICS_FIELDS; i++) {
		sonic_optics_field(i, fields[i]);
		arguments[2 + i] = fields[i];
	}
	return redis_command(out, arguments, 2 + SONIC_OPTICS_FIELDS);
}

static int
ask_alarm(struct evbuffer *out, const char *port)
{
	char key[SWITCH_PORT_BYTES + 28];
	const char *const arguments[] = { "HMGET", key, SONIC_ALARM_FIELD };

	snprintf(key, sizeof(key), "TRANSCEIVER_DOM_THRESHOLD|%s", port);
	return redis_command(out, arguments, 3);
}

static int
ask_config(struct evbuffer *out, const char *table, const char *port,
    const char *const *fields, size_t count)
{
	const char *arguments[2 + SONIC_PORT_FIELDS] = { "HMGET" };
	char key[SWITCH_PORT_BYTES + 16];

	_Static_assert(SONIC_QOS_FIELDS <= SONIC_PORT_FIELDS, "the array's size");
	snprintf(key, sizeof(key), "%s|%s", table, port);
	arguments[1] = key;
	memcpy(&arguments[2], fields, count * sizeof(fields[0]));
	return redis_command(out, arguments, 2 + count);
}

static int
ask_map(struct evbuffer *out, const char *map)
{
	char key[SONIC_MAP_BYTES + 16];

	snprintf(key, sizeof(key), "DSCP_TO_TC_MAP|%s", map);
	return ask_arguments(out, "HGETALL", key);
}

static int
ask_one(const struct sonic *sonic, const struct cursor *at, struct evbuffer *out)
{
	const struct switch_object *object =
	    at->stage == VALUES || at->stage >= STATES
		? switch_list_get(sonic->list, at->object)
		: NULL;

	switch (at->stage) {
	case AUTH:
		return ask_arguments(out, "AUTH", sonic->password);
	case SELECT_COUNTERS:
		return ask_arguments(out, "SELECT", COUNTERS_DB);
	case PORT_MAP:
		return ask_arguments(out, "HGETALL", map_key(SWITCH_PORT));
	case QUEUE_MAP:
		return ask_arguments(out, "HGETALL", map_key(SWITCH_QUEUE));
	case GROUP_MAP:
		return ask_arguments(out, "HGETALL", map_key(SWITCH_GROUP));
	case VALUES:
		return ask_fields(out, &sonic->values[object->part], object->id);
	case SELECT_APPL:
		return ask_arguments(out, "SELECT", APPL_DB);
	case STATES:
		return ask_fields(out, &sonic->states, object->port);
	case NEIGHBORS:
		return ask_neighbor(out, object->port);
	case SELECT_STATE:
		return ask_arguments(out, "SELECT", STATE_DB);
	case OPTICS:
		return ask_optics(out, object->port);
	case ALARMS:
		return ask_alarm(out, object->port);
	case SELECT_CONFIG:
		return ask_arguments(out, "SELECT", CONFIG_DB);
	case SETTINGS:
		return ask_config(
		    out, "PORT", object->port, sonic_port_fields, SONIC_PORT_FIELDS);
	case QOS:
		return ask_config(out, "PORT_QOS_MAP", object->port, sonic_qos_fields,
		    SONIC_QOS_FIELDS);
	case DSCPS:
		return ask_map(out, sonic->maps[at->object]);
	case DONE:
		break;
	}
	return 0;
}

int
sonic_ask(struct sonic *sonic, struct evbuffer *out)
{
	const enum stage first = sonic->asked.stage;

	for (int i = 0; i < SONIC_BATCH && sonic->asked.stage != DONE; i++) {
		int r;

		/* these requests need the answers to the stages before */
		if (first < sonic->asked.stage &&
		    (sonic->asked.stage == VALUES || sonic->asked.stage == DSCPS))
			break;
		r = ask_one(sonic, &sonic->asked, out);
		if (r < 0)
			return r;
		advance(sonic, &sonic->asked);
	}
	return 0;
}

bool
sonic_is_answered(const struct sonic *sonic)
{
	return sonic->asked.stage == sonic->answered.stage &&
	       sonic->asked.object == sonic->answered.object;
}

bool
sonic_is_done(const struct sonic *sonic)
{
	return sonic->answered.stage == DONE;
}

unsigned
sonic_answered_also(const struct sonic *sonic)
{
	return sonic->also & ~sonic->failed;
}

struct switch_list *
sonic_take_list(struct sonic *sonic)
{
	struct switch_list *list = sonic->list;

	sonic->list = NULL;
	sonic->counts->resets += sonic->resets;
	return list;
}

/* ---- the answers ---- */

/* Reads an object's name: "Ethernet0" for a port, "Ethernet0:3" for a queue or
 * group. */
static int
read_name(const redisReply *name, struct switch_object *object)
{
	const char *colon = memchr(name->str, ':', (size_t)name->len);
	size_t len = colon == NULL ? (size_t)name->len : (size_t)(colon - name->str);
	uint64_t index = 0;

	if (len >= sizeof(object->port) ||
	    (colon == NULL) != (object->part == SWITCH_PORT))
		return -EBADMSG;
	memcpy(object->port, name->str, len);
	if (colon != NULL &&
	    switch_number_read(colon + 1, (size_t)name->len - len - 1, &index) < 0)
		return -EBADMSG;
	if (index > UINT16_MAX)
		return -EBADMSG;
	object->index = (uint16_t)index;
	return 0;
}

static int
add_object(struct sonic *sonic, enum switch_part part, const redisReply *name,
    const redisReply *id)
{
	struct switch_object object = { .part = part };

	if (name->type != REDIS_REPLY_STRING || id->type != REDIS_REPLY_STRING ||
	    (size_t)id->len >= sizeof(object.id) ||
	    memchr(id->str, '\0', (size_t)id->len) != NULL ||
	    memchr(name->str, '\0', (size_t)name->len) != NULL ||
	    read_name(name, &object) < 0)
		return -EBADMSG;
	memcpy(object.id, id->str, (size_t)id->len);
	return switch_list_add(sonic->list, &object);
}

static int
take_map(struct sonic *sonic, enum switch_part part, const redisReply *map,
    struct rm_error *error)
{
	if (map->type != REDIS_REPLY_ARRAY || map->elements % 2 != 0)
		return rm_error_set(error, -EPROTO,
		    "%s is not a hash of names and ids: is it SONiC's Redis?",
		    map_key(part));
	for (size_t i = 0; i < map->elements; i += 2) {
		int r = add_object(sonic, part, map->element[i], map->element[i + 1]);

		if (r == -ENOMEM)
			return r;
		sonic->counts->refused += r == -ENOSPC;
		sonic->counts->parse_errors += r == -EBADMSG;
	}
	return 0;
}

static int
close_list(struct sonic *sonic, struct rm_error *error)
{
	int r = switch_list_close(sonic->list, sonic->before, &sonic->counts->refused);

	if (r < 0)
		return r;
	if (switch_list_count(sonic->list) == 0 ||
	    switch_list_get(sonic->list, 0)->part != SWITCH_PORT)
		return rm_error_set(error, -EPROTO,
		    "no port in %s: is it SONiC's Redis?", map_key(SWITCH_PORT));
	if (sonic->before != NULL && (sonic->also & SONIC_NEIGHBORS) == 0)
		r = switch_list_keep_neighbors(sonic->list, sonic->before);
	if (r == 0 && sonic->before != NULL && (sonic->also & SONIC_SETTINGS) == 0)
		r = switch_list_keep_settings(sonic->list, sonic->before);
	return r;
}

/* Counts the numbers in a text such as "0,1,2,3". */
static int
read_list(const char *text, size_t len, uint64_t *ret)
{
	uint64_t count = 0, unused;

	while (len > 0) {
		const char *comma = memchr(text, ',', len);
		const size_t first = comma == NULL ? len : (size_t)(comma - text);
		const int r = switch_value_read(text, first, &unused);

		if (r < 0)
			return r;
		count++;
		text += comma == NULL ? first : first + 1;
		len -= comma == NULL ? first : first + 1;
	}
	*ret = count;
	return count == 0 ? -ENODATA : 0;
}

static int
read_value(const struct switch_row *row, const redisReply *value, uint64_t *ret)
{
	if (value->type != REDIS_REPLY_STRING)
		return -EBADMSG;
	return (strcmp(row->name, "lanes") == 0 ? read_list : switch_value_read)(
	    value->str, (size_t)value->len, ret);
}

/* The sample of a row: the first of its names that has a value. *at: index of the
 * answer's element for the first name; moved behind the element for the last name. */
static struct counter_sample
sample_of(struct sonic *sonic, const struct switch_row *row, unsigned priority,
    bool state, const redisReply *answer, size_t *at)
{
	struct counter_sample sample = { 0 };
	const char *text = row->sonic;
	char name[SWITCH_NAME_BYTES];

	for (uint16_t source = 1; switch_next_name(&text, priority, name) == 0;
	     source++) {
		const redisReply *value;
		int r;

		if (is_state(name) != state)
			continue;
		if (answer == NULL)
			continue;
		value = answer->element[(*at)++];
		if (sample.there || value->type == REDIS_REPLY_NIL)
			continue;
		r = read_value(row, value, &sample.value);
		sample.there = r == 0;
		sample.source = source;
		sonic->counts->parse_errors += r == -EBADMSG;
	}
	return sample;
}

static const struct counter_state *
state_named(const struct switch_object *object, const char *name, unsigned priority)
{
	const struct counter_state *states = object->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != object->part)
			continue;
		if (strcmp(row->name, name) == 0)
			return &states[priority];
		states += switch_row_values(row);
	}
	return NULL;
}

/* Computes the paused time in microseconds for a port that counts only quanta: a
 * quantum is the time of 512 bits. The speed is that of the reading before. own: state
 * of the row. The sample has no value (there is false) if the row is another one, if
 * the quanta or the speed are not known, or if the quanta were reset, because then
 * their increase is not known. */
static struct counter_sample
time_of_quanta(const struct switch_object *object, const struct switch_row *row,
    unsigned priority, const struct counter_state *own)
{
	const bool received = strcmp(row->name, "pfc_rx_pause_us") == 0;
	const struct counter_state *quanta, *mbps;
	struct counter_sample sample = { .source = SOURCE_QUANTA };

	if (!received && strcmp(row->name, "pfc_tx_pause_us") != 0)
		return sample;
	quanta = state_named(
	    object, received ? "pfc_rx_pause_quanta" : "pfc_tx_pause_quanta", priority);
	mbps = state_named(object, "speed_mbps", 0);
	if (!quanta->there || quanta->change == COUNTER_RESET || !mbps->there ||
	    mbps->total == 0 || quanta->delta > UINT64_MAX / QUANTUM_BITS)
		return sample;
	sample.there = true;
	sample.value = own->value + quanta->delta * QUANTUM_BITS / mbps->total;
	return sample;
}

static bool
has_source(const struct switch_row *row, bool state)
{
	return !is_of_optics(row) && is_state(row->sonic) == state;
}

/* answer: NULL if the switch has no values of the object. */
static int
take_values(
    struct sonic *sonic, bool state, const redisReply *answer, struct rm_error *error)
{
	struct switch_object *object =
	    switch_list_get(sonic->list, sonic->answered.object);
	const struct fields *fields =
	    state ? &sonic->states : &sonic->values[object->part];
	struct counter_state *states = object->states;
	size_t at = 0;

	if (answer != NULL &&
	    (answer->type != REDIS_REPLY_ARRAY || answer->elements != fields->count))
		return rm_error_set(error, -EPROTO,
		    "the answer to HMGET %s:%s is not the list of %zu values that was "
		    "asked for",
		    fields->prefix, state ? object->port : object->id, fields->count);
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != object->part)
			continue;
		for (unsigned i = 0; i < switch_row_values(row); i++, states++) {
			struct counter_sample sample;

			if (!has_source(row, state))
				continue;
			sample = sample_of(sonic, row, i, state, answer, &at);
			if (!sample.there)
				sample = time_of_quanta(object, row, i, states);
			sonic->counts->values += sample.there;
			sonic->resets +=
			    counter_take(states, &sample, row->gauge ? 0 : 64, true) ==
			    COUNTER_RESET;
		}
	}
	return 0;
}

/* An answer of another type, or an error, means that the port has no neighbour. The
 * reading continues. */
static int
take_neighbor(struct sonic *sonic, const redisReply *answer)
{
	struct switch_neighbor neighbor = { .name = "" };
	char *const texts[NEIGHBOR_FIELDS] = { neighbor.name, neighbor.port,
		neighbor.description };

	if (answer->type != REDIS_REPLY_ARRAY || answer->elements != NEIGHBOR_FIELDS) {
		sonic->counts->parse_errors++;
		return 0;
	}
	for (size_t i = 0; i < NEIGHBOR_FIELDS; i++) {
		const redisReply *text = answer->element[i];

		if (text->type == REDIS_REPLY_NIL)
			continue;
		if (text->type != REDIS_REPLY_STRING ||
		    switch_neighbor_read(text->str, (size_t)text->len, texts[i]) ==
			-EBADMSG)
			sonic->counts->parse_errors++;
	}
	return switch_neighbor_is_there(&neighbor)
		   ? switch_list_set_neighbor(
			 sonic->list, sonic->answered.object, &neighbor)
		   : 0;
}

/* A gauge of an optical module: its delta is the value of the reading before. */
static void
take_light(struct sonic *sonic, struct counter_state *state,
    const struct counter_sample *sample)
{
	const uint64_t before = state->total;

	sonic->counts->values += sample->there;
	(void)counter_take(state, sample, 0, true);
	state->delta = before;
}

/* As in take_neighbor, the reading continues after an error. */
static void
take_optics(struct sonic *sonic, const redisReply *answer)
{
	struct switch_object *object =
	    switch_list_get(sonic->list, sonic->answered.object);
	struct counter_state *states = object->states;
	const bool whole = answer->type == REDIS_REPLY_ARRAY &&
			   answer->elements == SONIC_OPTICS_FIELDS;

	sonic->counts->parse_errors += !whole;
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		struct counter_sample sample = { 0 };

		if (row->part != SWITCH_PORT)
			continue;
		if (is_of_optics(row)) {
			if (whole)
				sonic->counts->parse_errors +=
				    sonic_optics_sample(answer, row->name, &sample);
			if (is_alarm(row))
				sonic->has_alarm[sonic->answered.object] = sample.there;
			if (!is_alarm(row) || sample.there)
				take_light(sonic, states, &sample);
		}
		states += switch_row_values(row);
	}
}

/* Takes the alarm power, for a port whose optics do not contain it. */
static void
take_alarm(struct sonic *sonic, const redisReply *answer)
{
	struct switch_object *object =
	    switch_list_get(sonic->list, sonic->answered.object);
	struct counter_state *states = object->states;
	struct counter_sample sample = { 0 };
	const bool whole = answer->type == REDIS_REPLY_ARRAY && answer->elements == 1;

	sonic->counts->parse_errors += !whole;
	if (sonic->has_alarm[sonic->answered.object])
		return;
	if (whole)
		sonic->counts->parse_errors += sonic_optics_alarm(answer, &sample);
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != SWITCH_PORT)
			continue;
		if (is_alarm(row))
			take_light(sonic, states, &sample);
		states += switch_row_values(row);
	}
}

/* As in take_neighbor, the reading continues after an error. */
static int
take_settings(struct sonic *sonic, const redisReply *answer)
{
	const size_t port = sonic->answered.object;
	struct wire_settings *settings = &sonic->settings[port];

	if (sonic->answered.stage == SETTINGS)
		sonic->counts->parse_errors += sonic_settings_port(answer, settings);
	else if (sonic->answered.stage == QOS)
		sonic->counts->parse_errors +=
		    sonic_settings_qos(answer, settings, sonic->maps[port]);
	else
		sonic->counts->parse_errors += sonic_settings_dscps(answer, settings);
	return sonic->answered.stage == DSCPS
		   ? switch_list_set_settings(sonic->list, port, settings)
		   : 0;
}

static int
take_ok(const redisReply *answer, const char *what, struct rm_error *error)
{
	if (answer->type == REDIS_REPLY_STATUS)
		return 0;
	return rm_error_set(
	    error, -EPROTO, "the answer to %s is not OK: is it a Redis?", what);
}

/* Sets *error to the text of an error answer, such as "NOAUTH Authentication
 * required." */
static int
refused(const struct sonic *sonic, const redisReply *answer, struct rm_error *error)
{
	const bool auth =
	    sonic->answered.stage == AUTH || strncmp(answer->str, "NOAUTH", 6) == 0;
	char quoted[128];

	rm_log_quote(quoted, sizeof(quoted), answer->str, (size_t)answer->len);
	return rm_error_set(error, auth ? -EACCES : -EPROTO, "it refused %s: %s",
	    auth ? "the password of switch.password_file" : "a question", quoted);
}

static int
take_answer(struct sonic *sonic, const redisReply *answer, struct rm_error *error)
{
	int r;

	switch (sonic->answered.stage) {
	case AUTH:
		return take_ok(answer, "AUTH", error);
	case SELECT_COUNTERS:
	case SELECT_APPL:
		return take_ok(answer, "SELECT", error);
	case PORT_MAP:
		return take_map(sonic, SWITCH_PORT, answer, error);
	case QUEUE_MAP:
		return take_map(sonic, SWITCH_QUEUE, answer, error);
	case GROUP_MAP:
		r = take_map(sonic, SWITCH_GROUP, answer, error);
		return r < 0 ? r : close_list(sonic, error);
	case VALUES:
		return take_values(sonic, false, answer, error);
	case STATES:
		return take_values(sonic, true, answer, error);
	case NEIGHBORS:
		return take_neighbor(sonic, answer);
	/* if the database does not exist, the switch has no optics */
	case SELECT_STATE:
		return 0;
	case OPTICS:
		take_optics(sonic, answer);
		return 0;
	case ALARMS:
		take_alarm(sonic, answer);
		return 0;
	/* if the database does not exist, no port has settings */
	case SELECT_CONFIG:
		return 0;
	case SETTINGS:
	case QOS:
	case DSCPS:
		return take_settings(sonic, answer);
	case DONE:
		break;
	}
	return 0;
}

/* True: an error answer concerns one object only. If a key has another type, that
 * object has no values, and the reading continues. */
static bool
is_of_one_object(const struct sonic *sonic, const redisReply *answer)
{
	return (sonic->answered.stage == VALUES || sonic->answered.stage == STATES) &&
	       strncmp(answer->str, "WRONGTYPE", 9) == 0;
}

int
sonic_answer(
    struct sonic *sonic, const struct redisReply *answer, struct rm_error *error)
{
	int r;

	if (sonic_is_answered(sonic))
		return rm_error_set(
		    error, -EPROTO, "it sent more answers than it got requests");
	if (answer->type == REDIS_REPLY_ERROR && sonic->answered.stage >= NEIGHBORS)
		sonic->failed |= sonic->answered.stage == NEIGHBORS ? SONIC_NEIGHBORS
				 : sonic->answered.stage < SELECT_CONFIG
				     ? SONIC_OPTICS
				     : SONIC_SETTINGS;
	if (answer->type != REDIS_REPLY_ERROR || sonic->answered.stage >= NEIGHBORS) {
		r = take_answer(sonic, answer, error);
	} else if (is_of_one_object(sonic, answer)) {
		sonic->counts->parse_errors++;
		r = take_values(sonic, sonic->answered.stage == STATES, NULL, error);
	} else {
		r = refused(sonic, answer, error);
	}
	if (r < 0)
		return r;
	advance(sonic, &sonic->answered);
	return 0;
}

#include "tor-aggregator/switch/nexus.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/nexus/nexus_text.h"
#include "tor-aggregator/optics/nexus_optics.h"
#include "tor-aggregator/switch/nexus_values.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/switch/switch_table.h"

#define MAX_DEPTH 16 /* maximum depth of tables within rows of other tables */
#define STAT_BYTES 40
#define NO_QUEUE (-1)
#define OTHER_QUEUE (-2) /* a queue that is not read */
#define LLDP "lldp"
#define OPTICS "optics"

/* The commands, by the names that the sources in switch_rows[] use: command/field, or
 * for tables of statistics command/statistic/field ("queuing/Tx
 * Pkts/eq-uc-stat-value"). */
static const struct command {
	const char *input, *name;
	/* 0: in every request; else the bit of NEXUS_* for which the command is
	 * added */
	unsigned also;
} commands[] = {
	{ "show interface counters", "counters" },
	{ "show interface counters errors", "errors" },
	{ "show interface flowcontrol", "flowcontrol" },
	{ "show interface priority-flow-control", "pfc" },
	{ "show queuing interface", "queuing" },
	{ "show queuing tabular", "tabular" },
	{ "show queuing pfc-queue detail", "pfc-queue" },
	{ "show queuing burst-detect", "burst" },
	/* These have no counters: see read_neighbors and read_modules. */
	{ "show lldp neighbors detail", LLDP, NEXUS_NEIGHBORS },
	{ "show interface transceiver details", OPTICS, NEXUS_OPTICS },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The object to which the present part of the answer belongs. */
struct place {
	const char *command;
	char port[SWITCH_PORT_BYTES]; /* "": none yet */
	bool other;                   /* the interface is not read */
	int queue;
	int priority; /* -1: none */
	char stat[STAT_BYTES];
};

static bool
is_asked(const struct command *command, unsigned also)
{
	return command->also == 0 || (command->also & also) != 0;
}

char *
nexus_question(unsigned also)
{
	char input[512] = "", *text;
	json_t *question;

	for (size_t i = 0, used = 0; i < COMMANDS; i++)
		if (is_asked(&commands[i], also))
			used += (size_t)snprintf(input + used, sizeof(input) - used,
			    "%s%s", i == 0 ? "" : " ;", commands[i].input);
	question = json_pack("{s:{s:s, s:s, s:s, s:s, s:s, s:s}}", "ins_api", "version",
	    "1.0", "type", "cli_show", "chunk", "0", "sid", "1", "input", input,
	    "output_format", "json");
	text = question == NULL ? NULL : json_dumps(question, JSON_COMPACT);
	json_decref(question);
	return text;
}

/* ---- the sources of the table ---- */

static int
compare_sources(const void *a, const void *b)
{
	return strcmp(((const struct nexus_source *)a)->name,
	    ((const struct nexus_source *)b)->name);
}

static void
add_source(struct nexus_values *values, const struct nexus_source *like,
    const char *text, size_t len)
{
	struct nexus_source *source = &values->sources[values->source_count];
	const char *equals = memchr(text, '=', len);
	const size_t name = equals == NULL ? len : (size_t)(equals - text);

	if (values->source_count == NEXUS_MAX_SOURCES)
		return;
	*source = *like;
	snprintf(source->name, sizeof(source->name), "%.*s", (int)name, text);
	if (equals != NULL)
		snprintf(source->matching, sizeof(source->matching), "%.*s",
		    (int)(len - name - 1), equals + 1);
	values->source_count++;
}

static void
add_row(struct nexus_values *values, const struct switch_row *row, size_t slot)
{
	struct nexus_source like = { .row = row, .slot = (uint16_t)slot };

	for (const char *text = row->nexus; *text != '\0';) {
		const size_t len = strcspn(text, "+|");

		add_source(values, &like, text, len);
		like.term = text[len] == '+' ? (uint8_t)(like.term + 1) : 0;
		like.alternative =
		    (uint8_t)(like.alternative + (text[len] == '|' ? 1 : 0));
		text += text[len] == '\0' ? len : len + 1;
	}
}

bool
nexus_is_of_optics(const struct switch_row *row)
{
	return strncmp(row->nexus, NEXUS_OPTICS_PREFIX, strlen(NEXUS_OPTICS_PREFIX)) ==
	       0;
}

static void
note_light(struct nexus_values *values, const struct switch_row *row, size_t slot)
{
	for (int i = 0; i < NEXUS_LIGHTS; i++)
		if (strcmp(nexus_light_str((enum nexus_light)i), row->name) == 0)
			values->lights[i] = (uint16_t)slot;
}

static void
fill_sources(struct nexus_values *values)
{
	size_t slots[SWITCH_PARTS] = { 0 };

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (nexus_is_of_optics(row))
			note_light(values, row, slots[row->part]);
		else
			add_row(values, row, slots[row->part]);
		slots[row->part] += switch_row_values(row);
	}
	qsort(values->sources, values->source_count, sizeof(values->sources[0]),
	    compare_sources);
}

/* ---- values ---- */

/* Reads a number such as "9,286,478" or "21.3 us". -ENODATA: the text says that there
 * is none. */
static int
read_number(const char *text, uint64_t *ret)
{
	char digits[32];
	size_t len = 0;

	text += strspn(text, " ");
	for (; isdigit((unsigned char)*text) || (*text == ',' && len > 0); text++)
		if (*text != ',' && len < sizeof(digits))
			digits[len++] = *text;
	if (len == 0)
		return text[strspn(text, "- ")] == '\0' || strncmp(text, "N/A", 3) == 0
			   ? -ENODATA
			   : -EBADMSG;
	if (*text == '.')
		text += 1 + strspn(text + 1, "0123456789");
	text += strspn(text, " ");
	if (*text != '\0' && strcmp(text, "us") != 0)
		return -EBADMSG;
	return len == sizeof(digits) ? -EBADMSG : switch_number_read(digits, len, ret);
}

/* Compares the first word of a text: "On (8)" is "On". */
static int
read_matching_text(const char *text, const char *matching, uint64_t *ret)
{
	size_t len;

	text += strspn(text, " [");
	len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (len == 0)
		return text[strspn(text, "- ")] == '\0' ? -ENODATA : -EBADMSG;
	*ret = len == strlen(matching) && strncasecmp(text, matching, len) == 0;
	return 0;
}

/* True: the string has a damaged character; it has been counted already. */
static bool
is_damaged(const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL && strchr(text, NEXUS_TEXT_DAMAGED) != NULL;
}

static int
read_value(const struct nexus_source *source, const json_t *value, uint64_t *ret)
{
	if (json_is_null(value) || is_damaged(value))
		return -ENODATA;
	if (json_is_string(value))
		return source->matching[0] == '\0'
			   ? read_number(json_string_value(value), ret)
			   : read_matching_text(
				 json_string_value(value), source->matching, ret);
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    source->matching[0] != '\0')
		return -EBADMSG;
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

static struct nexus_value *
append(struct nexus_values *values)
{
	const size_t capacity = values->capacity == 0 ? 1024 : 2 * values->capacity;
	struct nexus_value *more;

	if (values->count == NEXUS_MAX_VALUES) {
		values->counts.refused++;
		return NULL;
	}
	if (values->count == values->capacity) {
		more = reallocarray(values->values, capacity, sizeof(*more));
		if (more == NULL) {
			values->no_memory = true;
			return NULL;
		}
		values->values = more;
		values->capacity = capacity;
	}
	more = &values->values[values->count++];
	*more = (struct nexus_value){ .order = (uint32_t)values->count };
	return more;
}

static bool
belongs(const struct place *place, const struct switch_row *row)
{
	return place->port[0] != '\0' &&
	       (row->part != SWITCH_QUEUE || place->queue >= 0) &&
	       (row->by != SWITCH_BY_PRIORITY || place->priority >= 0);
}

static void
take_value(struct nexus_values *values, const struct place *place,
    const struct nexus_source *source, const json_t *value)
{
	const struct switch_row *row = source->row;
	struct nexus_value *taken;
	uint64_t number;
	int r;

	if (place->other || (row->part == SWITCH_QUEUE && place->queue == OTHER_QUEUE))
		return;
	r = read_value(source, value, &number);
	if (r == -ENODATA)
		return;
	if (r < 0 || !belongs(place, row)) {
		values->counts.parse_errors++;
		return;
	}
	taken = append(values);
	if (taken == NULL)
		return;
	taken->of.part = (enum switch_part)row->part;
	memcpy(taken->of.port, place->port, sizeof(taken->of.port));
	memcpy(taken->of.id, place->port, sizeof(place->port));
	if (row->part == SWITCH_QUEUE)
		taken->of.index = (uint16_t)place->queue;
	taken->value = number;
	taken->slot = (uint16_t)(source->slot +
				 (row->by == SWITCH_BY_PRIORITY ? place->priority : 0));
	taken->alternative = source->alternative;
	taken->term = source->term;
}

/* ---- the walk over an answer ---- */

/* Reads a port's name: "Eth1/1", "ethernet1/1" and "Ethernet1/1 [System]" are all
 * Ethernet1/1. */
static void
read_port(struct place *place, const char *name)
{
	const size_t letters = strcspn(name, "0123456789");
	const size_t number = strspn(name + letters, "0123456789/");
	const bool fabric = letters == 2 && strncasecmp(name, "ii", 2) == 0;

	place->port[0] = '\0';
	place->other =
	    (!fabric && !(letters == 3 && strncasecmp(name, "Eth", 3) == 0) &&
		!(letters == 8 && strncasecmp(name, "Ethernet", 8) == 0)) ||
	    number == 0 || number > 20 ||
	    (name[letters + number] != '\0' && name[letters + number] != ' ');
	if (!place->other)
		snprintf(place->port, sizeof(place->port), "%s%.*s",
		    fabric ? "ii" : "Ethernet", (int)number, name + letters);
}

/* Returns the number of a queue, from texts such as "3", "U3" or "QOS GROUP 3";
 * NEXUS_CONTROL_QUEUE for texts such as "CONTROL QOS GROUP 5" or "CPU";
 * NEXUS_SPAN_QUEUE for "SPAN"; OTHER_QUEUE for other texts. */
static int
queue_of(const char *text)
{
	static const char group[] = "QOS GROUP ";
	unsigned value = 0;
	int end = 0;

	if (strncasecmp(text, "cpu", 3) == 0 || strncasecmp(text, "CONTROL", 7) == 0)
		return NEXUS_CONTROL_QUEUE;
	if (strncasecmp(text, "span", 4) == 0)
		return NEXUS_SPAN_QUEUE;
	if (strncasecmp(text, group, sizeof(group) - 1) == 0)
		text += sizeof(group) - 1;
	else if (text[0] == 'U')
		text++;
	if (!isdigit((unsigned char)text[0]) ||
	    sscanf(text, "%4u%n", &value, &end) != 1 || text[end] != '\0')
		return OTHER_QUEUE;
	return (int)value;
}

static int
small_number(const json_t *value)
{
	if (json_is_string(value))
		return queue_of(json_string_value(value));
	return json_is_integer(value) && json_integer_value(value) >= 0 &&
		       json_integer_value(value) <= 9999
		   ? (int)json_integer_value(value)
		   : OTHER_QUEUE;
}

static const char *
text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* Reads the port, queue and so on that a row names: they are valid for the values in
 * the row, and for the tables within it. */
static void
read_place(struct place *place, const json_t *row)
{
	static const char *const ports[] = { "interface", "interface_rx",
		"interface_tx", "if_name_str", "if-str" };
	static const char *const queues[] = { "eq-qosgrp", "queue" };
	static const char *const stats[][2] = { { "eq-stat-type", "eq-stat-units" },
		{ "ep-stat-type", "ep-stat-units" },
		{ "ip-stat-type", "ip-stat-units" } };
	const json_t *value;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		if (json_object_get(row, ports[i]) != NULL)
			read_port(place, text_at(row, ports[i]));
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
		if ((value = json_object_get(row, queues[i])) != NULL)
			place->queue = small_number(value);
	if ((value = json_object_get(row, "cos")) != NULL) {
		place->priority = small_number(value);
		if (place->priority >= SWITCH_PRIORITIES)
			place->priority = -1;
	}
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++)
		if (json_object_get(row, stats[i][0]) != NULL)
			snprintf(place->stat, sizeof(place->stat), "%.28s %.8s",
			    text_at(row, stats[i][0]), text_at(row, stats[i][1]));
}

/* Splits a key: "tx_uc_pkt_qos_3" is tx_uc_pkt of queue 3. */
static void
cut_queue(struct place *place, const char *key, char *cut, size_t size)
{
	const char *end = strstr(key, "_qos_");

	snprintf(cut, size, "%.*s",
	    (int)(end == NULL ? strlen(key) : (size_t)(end - key)), key);
	if (end != NULL)
		place->queue = queue_of(end + strlen("_qos_"));
}

static void
take_field(struct nexus_values *values, const struct place *row, const char *key,
    const json_t *value)
{
	struct place place = *row;
	struct nexus_source wanted;
	const struct nexus_source *source;
	char cut[SWITCH_NAME_BYTES / 2];

	cut_queue(&place, key, cut, sizeof(cut));
	if (place.stat[0] != '\0' && strstr(key, "-stat-value") != NULL)
		snprintf(wanted.name, sizeof(wanted.name), "%.10s/%.30s/%.36s",
		    place.command, place.stat, cut);
	else
		snprintf(wanted.name, sizeof(wanted.name), "%s/%s", place.command, cut);
	source = bsearch(&wanted, values->sources, values->source_count, sizeof(wanted),
	    compare_sources);
	if (source != NULL)
		take_value(values, &place, source, value);
}

/* Visits all rows of a table. In the answer a table with one row is an object, and a
 * table with several rows is an array of objects. */
static void
walk(struct nexus_values *values, const struct place *above, json_t *node, int depth)
{
	struct place place = *above;
	const char *key;
	json_t *value;
	size_t i;

	if (depth == MAX_DEPTH) {
		values->counts.parse_errors++;
		return;
	}
	json_array_foreach (node, i, value) {
		walk(values, above, value, depth + 1);
	}
	if (!json_is_object(node))
		return;
	read_place(&place, node);
	json_object_foreach (node, key, value) {
		if (json_is_object(value) || json_is_array(value))
			walk(values, &place, value, depth + 1);
		else
			take_field(values, &place, key, value);
	}
}

/* ---- neighbours ---- */

static void
read_neighbor_text(struct nexus_values *values, const json_t *row, const char *key,
    char ret[SWITCH_NEIGHBOR_BYTES])
{
	const char *text = text_at(row, key);

	if (switch_neighbor_read(text, strlen(text), ret) == -EBADMSG &&
	    strchr(text, NEXUS_TEXT_DAMAGED) ==
		NULL) /* damaged names have been counted already */
		values->counts.parse_errors++;
}

static void
read_neighbor(struct nexus_values *values, const json_t *row)
{
	struct place place = { .queue = NO_QUEUE };
	struct switch_neighbor neighbor;
	struct nexus_neighbor *taken;

	read_port(&place, text_at(row, "l_port_id"));
	if (place.other)
		return;
	read_neighbor_text(values, row, "sys_name", neighbor.name);
	read_neighbor_text(values, row, "port_id", neighbor.port);
	read_neighbor_text(values, row, "port_desc", neighbor.description);
	if (!switch_neighbor_is_there(&neighbor))
		return;
	if (values->neighbor_count == SWITCH_MAX_PORTS) {
		values->counts.refused++;
		return;
	}
	if (values->neighbors == NULL)
		values->neighbors =
		    calloc(SWITCH_MAX_PORTS, sizeof(values->neighbors[0]));
	if (values->neighbors == NULL) {
		values->no_memory = true;
		return;
	}
	taken = &values->neighbors[values->neighbor_count++];
	memcpy(taken->port, place.port, sizeof(taken->port));
	taken->of = neighbor;
}

static void
read_neighbors(struct nexus_values *values, json_t *node, int depth)
{
	const char *key;
	json_t *value;
	size_t i;

	if (depth == MAX_DEPTH) {
		values->counts.parse_errors++;
		return;
	}
	json_array_foreach (node, i, value) {
		read_neighbors(values, value, depth + 1);
	}
	if (!json_is_object(node))
		return;
	if (json_object_get(node, "l_port_id") != NULL)
		read_neighbor(values, node);
	json_object_foreach (node, key, value) {
		read_neighbors(values, value, depth + 1);
	}
}

/* ---- optical modules ---- */

static void
read_module(struct nexus_values *values, const json_t *row)
{
	struct place place = { .queue = NO_QUEUE };
	struct nexus_optics optics;

	read_port(&place, text_at(row, "interface"));
	if (place.other)
		return;
	values->counts.parse_errors += nexus_optics_read(row, &optics);
	for (int i = 0; i < NEXUS_LIGHTS; i++) {
		struct nexus_value *taken = optics.there[i] ? append(values) : NULL;

		if (taken == NULL)
			continue;
		taken->of.part = SWITCH_PORT;
		memcpy(taken->of.port, place.port, sizeof(taken->of.port));
		memcpy(taken->of.id, place.port, sizeof(place.port));
		taken->light = true;
		taken->value = optics.value[i];
		taken->slot = values->lights[i];
	}
}

static void
read_modules(struct nexus_values *values, const json_t *body)
{
	const json_t *rows =
	    json_object_get(json_object_get(body, "TABLE_interface"), "ROW_interface");

	if (json_is_object(rows))
		read_module(values, rows);
	for (size_t i = 0; i < json_array_size(rows); i++)
		read_module(values, json_array_get(rows, i));
}

/* ---- the answers of a request ---- */

static size_t
command_of(const char *input)
{
	size_t len;

	input += strspn(input, " ");
	for (len = strlen(input); len > 0 && input[len - 1] == ' ';)
		len--;
	for (size_t i = 0; i < COMMANDS; i++)
		if (strlen(commands[i].input) == len &&
		    strncmp(commands[i].input, input, len) == 0)
			return i;
	return COMMANDS;
}

static bool
is_ok(const json_t *output)
{
	const json_t *code = json_object_get(output, "code");

	return json_is_integer(code) ? json_integer_value(code) == 200
				     : strcmp(text_at(output, "code"), "200") == 0;
}

static size_t
commands_asked(const struct nexus_values *values)
{
	size_t count = 0;

	for (size_t i = 0; i < COMMANDS; i++)
		count += is_asked(&commands[i], values->asked);
	return count;
}

/* answered: a bit is set for each command that was answered. */
static void
take_output(struct nexus_values *values, json_t *output, unsigned *answered)
{
	const size_t at = command_of(text_at(output, "input"));
	struct place place = { .queue = NO_QUEUE, .priority = -1 };

	if (at == COMMANDS || !is_asked(&commands[at], values->asked) ||
	    (*answered >> at & 1) != 0) {
		values->counts.parse_errors++;
		return;
	}
	if (!is_ok(output))
		return;
	*answered |= 1U << at;
	values->answered |= commands[at].also;
	place.command = commands[at].name;
	if (strcmp(place.command, LLDP) == 0) {
		read_neighbors(values, json_object_get(output, "body"), 0);
	} else if (strcmp(place.command, OPTICS) == 0) {
		read_modules(values, json_object_get(output, "body"));
	} else {
		walk(values, &place, json_object_get(output, "body"), 0);
	}
}

static int
take_outputs(struct nexus_values *values, const json_t *root, struct rm_error *error)
{
	const json_t *api = json_object_get(root, "ins_api");
	json_t *all = json_object_get(json_object_get(api, "outputs"), "output"),
	       *output;
	unsigned answered = 0;
	size_t i;

	if (!json_is_object(all) && !json_is_array(all))
		return rm_error_set(error, -EPROTO,
		    "its answer has no ins_api.outputs.output: is it NX-API?");
	if (json_is_object(all))
		take_output(values, all, &answered);
	json_array_foreach (all, i, output) {
		take_output(values, output, &answered);
	}
	if (answered == 0)
		return rm_error_set(error, -EPROTO,
		    "it answered none of the commands: may the user of switch.user "
		    "show "
		    "interface and show queuing?");
	values->counts.commands_refused =
	    commands_asked(values) - (size_t)__builtin_popcount(answered);
	return 0;
}

/* True: the text has too many JSON values: in memory a value takes about fifty times
 * the bytes of its text. */
static bool
has_too_many_nodes(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '{' || text[i] == '[' || text[i] == ',';
	return count > NEXUS_MAX_NODES;
}

static int
read_tree(
    struct nexus_values *values, const char *text, size_t len, struct rm_error *failure)
{
	json_error_t error;
	json_t *root;
	char *clean;
	size_t clean_len;
	int r;

	r = nexus_text_clean(
	    text, len, &clean, &clean_len, &values->counts.parse_errors);
	if (r < 0)
		return r;
	root = json_loadb(clean, clean_len, 0, &error);
	free(clean);
	r = root == NULL ? rm_error_set(failure, -EPROTO,
			       "its answer is not JSON (line %d, column %d): is it "
			       "NX-API?",
			       error.line, error.column)
			 : take_outputs(values, root, failure);
	json_decref(root);
	return r;
}

static int
compare_values(const void *a, const void *b)
{
	const struct nexus_value *x = a, *y = b;
	const int order = switch_object_compare(&x->of, &y->of);

	if (order != 0)
		return order;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->alternative != y->alternative)
		return x->alternative < y->alternative ? -1 : 1;
	if (x->term != y->term)
		return x->term < y->term ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sorts the values in the order of the list, and numbers the objects: so the slow
 * comparison of ports' names is done only here. */
static void
sort_values(struct nexus_values *values)
{
	struct nexus_value *all = values->values;

	if (values->count == 0)
		return;
	qsort(all, values->count, sizeof(all[0]), compare_values);
	all[0].object = 0;
	for (size_t i = 1; i < values->count; i++)
		all[i].object =
		    all[i - 1].object +
		    (switch_object_compare(&all[i - 1].of, &all[i].of) != 0);
}

int
nexus_parse(const char *text, size_t len, unsigned also, struct nexus_values **ret,
    struct rm_error *error)
{
	struct nexus_values *values;
	int r;

	if (has_too_many_nodes(text, len))
		return rm_error_set(error, -EPROTO,
		    "its answer has more than %d values", NEXUS_MAX_NODES);
	values = calloc(1, sizeof(*values));
	if (values == NULL)
		return -ENOMEM;
	values->asked = also;
	fill_sources(values);
	r = read_tree(values, text, len, error);
	if (r == 0 && values->no_memory)
		r = -ENOMEM;
	if (r < 0) {
		nexus_values_free(values);
		return r;
	}
	sort_values(values);
	*ret = values;
	return 0;
}

void
nexus_values_free(struct nexus_values *values)
{
	if (values == NULL)
		return;
	free(values->neighbors);
	free(values->values);
	free(values);
}

unsigned
nexus_values_also(const struct nexus_values *values)
{
	return values->answered;
}

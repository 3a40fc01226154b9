#include "tor-aggregator/api/mesh_answer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rackmesh/http/http_server.h"
#include "tor-aggregator/api/aggregator_show.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

/* The names of the values of a row, in the order in which put_row writes them. */
static const char *const columns[] = { "from", "to", "sent", "ok", "no_reply",
	"late_reply", "not_sent", "lost_forward", "lost_reverse", "rtt_p50_ns",
	"rtt_p95_ns", "rtt_p99_ns", "last_seen_ms" };

static int
compare_names(const void *a, const void *b, void *arg)
{
	const struct roster_rnic *left = roster_member(arg, *(const uint16_t *)a);
	const struct roster_rnic *right = roster_member(arg, *(const uint16_t *)b);
	int order = strcmp(left->host, right->host);

	return order != 0 ? order : strcmp(left->device, right->device);
}

/* places: gets the index of each member on the axes. */
static json_t *
show_axis(const struct roster *roster, uint16_t *places)
{
	const size_t count = roster_members(roster);
	uint16_t order[WIRE_MAX_MEMBERS];
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		order[i] = (uint16_t)i;
	qsort_r(order, count, sizeof(order[0]), compare_names, (void *)roster);
	for (size_t i = 0; i < count; i++) {
		const struct roster_rnic *rnic = roster_member(roster, order[i]);
		json_t *object = json_object();

		places[order[i]] = (uint16_t)i;
		json_object_set_new(object, "id", show_id(rnic->id));
		json_object_set_new(object, "host", json_string(rnic->host));
		json_object_set_new(object, "device", json_string(rnic->device));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
show_head(const struct tor_rack *rack, enum mesh_period period, rm_mono_t now,
    uint16_t *places)
{
	const struct rack_mesh *mesh = tor_rack_pair_mesh(rack);
	char until[RM_WALL_TEXT];
	json_t *head = json_object(), *names = json_array();

	rm_wall_format(rm_wall_now(), until);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_array_append_new(names, json_string(columns[i]));
	json_object_set_new(head, "tor", json_string(tor_rack_tor(rack)));
	json_object_set_new(
	    head, "period", json_string(period == MESH_HOUR ? "hour" : "minute"));
	json_object_set_new(head, "seconds",
	    json_integer(rack_mesh_covered_ns(mesh, period, now) / RM_NS_PER_S));
	json_object_set_new(head, "until", json_string(until));
	json_object_set_new(head, "rnics", show_axis(tor_rack_roster(rack), places));
	json_object_set_new(head, "columns", names);
	json_object_set_new(
	    head, "pairs_refused", json_integer((json_int_t)*rack_mesh_refused(mesh)));
	return head;
}

/* 13 figures of up to 20 digits, or null, and the characters between them. */
#define ROW_BYTES 320

struct text {
	char *data;
	size_t len;
};

/* Writes a number without printf: a rack of 256 RNICs has almost a million numbers,
 * which are written in one turn of the loop. */
static void
put(struct text *text, uint64_t figure)
{
	char digits[20];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + figure % 10);
		figure /= 10;
	} while (figure > 0);
	while (count > 0)
		text->data[text->len++] = digits[--count];
	text->data[text->len++] = ',';
}

static void
put_nulls(struct text *text, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		memcpy(text->data + text->len, "null,", 5);
		text->len += 5;
	}
}

/* Writes a row, and a comma. */
static void
put_row(struct text *text, const struct mesh_row *row, const uint16_t *places,
    rm_mono_t now)
{
	const uint64_t *counts = row->counts;
	const uint64_t located = counts[MESH_LOST_FORWARD] + counts[MESH_LOST_REVERSE];
	const int64_t age_ns = rm_mono_since(now, row->seen);

	text->data[text->len++] = '[';
	put(text, places[row->src]);
	put(text, places[row->dst]);
	for (int i = MESH_SENT; i <= MESH_NOT_SENT; i++)
		put(text, counts[i]);
	if (counts[MESH_NO_REPLY] > 0 && located == 0) {
		put_nulls(text, 2);
	} else {
		put(text, counts[MESH_LOST_FORWARD]);
		put(text, counts[MESH_LOST_REVERSE]);
	}
	if (row->rtt_ns[MESH_P50] == 0)
		put_nulls(text, MESH_QUANTILES);
	for (int q = 0; q < MESH_QUANTILES && row->rtt_ns[MESH_P50] != 0; q++)
		put(text, row->rtt_ns[q]);
	put(text, age_ns > 0 ? (uint64_t)(age_ns / RM_NS_PER_MS) : 0);
	text->data[text->len - 1] = ']';
	text->data[text->len++] = ',';
}

/* Returns NULL if memory has run out. The buffer has the largest possible size, because
 * pages that are not written to take no memory. */
static char *
write_rack(const struct tor_rack *rack, enum mesh_period period, size_t *len)
{
	static const char pairs[] = ",\"pairs\":[", end[] = "]}";
	const struct rack_mesh *mesh = tor_rack_pair_mesh(rack);
	const rm_mono_t now = rm_mono_now();
	uint16_t places[WIRE_MAX_MEMBERS] = { 0 };
	json_t *head = show_head(rack, period, now, places);
	char *head_text = json_dumps(head, JSON_COMPACT);
	struct text text = { NULL, 0 };
	struct mesh_row row;
	size_t at = 0;

	json_decref(head);
	if (head_text != NULL)
		text.data = malloc(strlen(head_text) + sizeof(pairs) + sizeof(end) +
				   rack_mesh_pairs(mesh) * ROW_BYTES);
	if (text.data != NULL) {
		head_text[strlen(head_text) - 1] = 0; /* its closing brace */
		text.len = (size_t)sprintf(text.data, "%s%s", head_text, pairs);
		while (rack_mesh_next(mesh, period, &at, &row))
			put_row(&text, &row, places, now);
		text.len -= text.data[text.len - 1] == ',';
		text.len += (size_t)sprintf(text.data + text.len, "%s", end);
	}
	free(head_text);
	*len = text.len;
	return text.data;
}

static const struct tor_rack *
find_rack(const struct tor_aggregator *aggregator, const char *tor)
{
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (strcmp(tor_rack_tor(aggregator->racks[i]), tor) == 0)
			return aggregator->racks[i];
	return NULL;
}

char *
mesh_answer(const struct tor_aggregator *aggregator, const char *tor,
    enum mesh_period period, int *status, size_t *len)
{
	static const char none[] = "{\"error\":\"no such ToR here, see /v1/racks\"}";
	const struct tor_rack *rack = find_rack(aggregator, tor);

	*status = rack == NULL ? 404 : 200;
	if (rack != NULL)
		return write_rack(rack, period, len);
	*len = sizeof(none) - 1;
	return strdup(none);
}

void
mesh_answer_get(struct rm_http_request *request, void *arg)
{
	const char *asked = rm_http_query(request, "period");
	enum mesh_period period = MESH_MINUTE;
	size_t len = 0;
	char *text;
	int status;

	if (asked != NULL && strcmp(asked, "hour") == 0) {
		period = MESH_HOUR;
	} else if (asked != NULL && strcmp(asked, "minute") != 0) {
		rm_http_reply_error(request, 400, "?period= is minute or hour");
		return;
	}
	text = mesh_answer(arg, rm_http_path_rest(request), period, &status, &len);
	if (text == NULL)
		rm_http_reply_error(request, 500, "out of memory");
	else
		rm_http_reply_text(request, status, text, len);
	free(text);
}

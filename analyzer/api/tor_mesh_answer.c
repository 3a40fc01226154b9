#include "analyzer/api/tor_mesh_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/racks/tor_mesh.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/sight.h"

#define ANSWER_MAX_WORST 1000

struct place { /* one ToR of the answer; lives while the mesh is read */
	const char *region, *tor;
	size_t shown; /* index in the answer; SIZE_MAX: it has none yet */
};

struct answer {
	FILE
	    /* There can be very many rows: they are written as text, without a json_t
	     * for each number. */
	    *out;
	const char *between; /* text before the next item of a list: "" or "," */
	rm_mono_t now;
	bool in_pairs;
	uint64_t probed, losing; /* pairs */
	/* With ?worst=: only the worst pairs, sorted; all ToRs are listed. */
	size_t most, count; /* 0: all pairs, in the order in which they are read */
	bool by_rtt, no_memory;
	struct tor_mesh_row *worst;
	struct place *places;
	size_t place_count, place_room;
};

/* The names are valid, so nothing in them needs an escape. */
static void
write_tor(const char *region, const char *tor, void *arg)
{
	struct answer *answer = arg;

	fprintf(answer->out, "%s{\"region\":\"%s\",\"tor\":\"%s\"}", answer->between,
	    region, tor);
	answer->between = ",";
}

static void
keep_tor(const char *region, const char *tor, void *arg)
{
	struct answer *answer = arg;

	if (answer->place_count == answer->place_room) {
		size_t room = answer->place_room > 0 ? 2 * answer->place_room : 64;
		struct place *more =
		    reallocarray(answer->places, room, sizeof(*answer->places));

		if (more == NULL) {
			answer->no_memory = true;
			return;
		}
		answer->places = more;
		answer->place_room = room;
	}
	answer->places[answer->place_count++] = (struct place){ region, tor, SIZE_MAX };
}

/* The columns are those of the aggregator's mesh_answer. */
static const char columns[] =
    "\"from\",\"to\",\"sent\",\"ok\",\"no_reply\",\"late_reply\",\"not_sent\","
    "\"lost_forward\",\"lost_reverse\",\"rtt_p50_ns\",\"rtt_p95_ns\",\"rtt_p99_ns\","
    "\"last_seen_ms\"";

static void
begin_pairs(struct answer *answer)
{
	fprintf(answer->out, "],\"columns\":[%s],\"pairs\":[", columns);
	answer->between = "";
	answer->in_pairs = true;
}

static double
loss_of(const struct tor_mesh_row *row)
{
	const uint64_t sent = row->counts[TOR_MESH_SENT];

	return sent > 0 ? (double)row->counts[TOR_MESH_NO_REPLY] / (double)sent : 0;
}

/* Sorts by the requested value, then by the other one. */
static bool
is_worse(const struct answer *answer, const struct tor_mesh_row *a,
    const struct tor_mesh_row *b)
{
	const double loss = loss_of(a) - loss_of(b);
	const uint64_t a_ns = a->rtt_ns[TOR_MESH_P99], b_ns = b->rtt_ns[TOR_MESH_P99];

	if (answer->by_rtt && a_ns != b_ns)
		return a_ns > b_ns;
	if (loss != 0)
		return loss > 0;
	return a_ns > b_ns;
}

static void
keep_pair(const struct tor_mesh_row *row, void *arg)
{
	struct answer *answer = arg;
	size_t low = 0, high = answer->count;

	answer->probed++;
	answer->losing += row->counts[TOR_MESH_NO_REPLY] > 0;
	if (answer->count == answer->most) {
		if (!is_worse(answer, row, &answer->worst[answer->count - 1]))
			return;
		high = --answer->count;
	}
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (is_worse(answer, row, &answer->worst[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	memmove(&answer->worst[low + 1], &answer->worst[low],
	    (answer->count - low) * sizeof(*answer->worst));
	answer->worst[low] = *row;
	answer->count++;
}

static void
write_pair(const struct tor_mesh_row *row, void *arg)
{
	struct answer *answer = arg;
	const uint64_t *counts = row->counts;
	FILE *out = answer->out;

	if (answer->most == 0) {
		answer->probed++;
		answer->losing += counts[TOR_MESH_NO_REPLY] > 0;
	}
	if (!answer->in_pairs)
		begin_pairs(answer);
	fprintf(out, "%s[%zu,%zu", answer->between, row->src, row->dst);
	answer->between = ",";
	for (int i = TOR_MESH_SENT; i <= TOR_MESH_NOT_SENT; i++)
		fprintf(out, ",%" PRIu64, counts[i]);
	if (counts[TOR_MESH_NO_REPLY] > 0 &&
	    counts[TOR_MESH_LOST_FORWARD] + counts[TOR_MESH_LOST_REVERSE] == 0)
		fputs(",null,null", out);
	else
		fprintf(out, ",%" PRIu64 ",%" PRIu64, counts[TOR_MESH_LOST_FORWARD],
		    counts[TOR_MESH_LOST_REVERSE]);
	if (row->rtt_ns[TOR_MESH_P50] == 0)
		fputs(",null,null,null", out);
	else
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		    row->rtt_ns[TOR_MESH_P50], row->rtt_ns[TOR_MESH_P95],
		    row->rtt_ns[TOR_MESH_P99]);
	fprintf(out, ",%" PRId64 "]",
	    rm_mono_since(answer->now, row->last_seen) / RM_NS_PER_MS);
}

/* Returns the index of a ToR in the answer. A ToR is added when the first pair contains
 * it. */
static size_t
show_tor(struct answer *answer, size_t at, size_t *shown)
{
	struct place *place = &answer->places[at];

	if (place->shown == SIZE_MAX) {
		write_tor(place->region, place->tor, answer);
		place->shown = (*shown)++;
	}
	return place->shown;
}

/* Lists the pairs and the ToRs at their ends, no other ToRs. */
static void
write_worst(struct answer *answer)
{
	size_t shown = 0;

	for (size_t i = 0; i < answer->count; i++) {
		struct tor_mesh_row *row = &answer->worst[i];

		row->src = show_tor(answer, row->src, &shown);
		row->dst = show_tor(answer, row->dst, &shown);
	}
	for (size_t i = 0; i < answer->count; i++)
		write_pair(&answer->worst[i], answer);
}

static void
write_all(struct answer *answer, struct tor_mesh *mesh, enum tor_mesh_period period,
    const struct rm_sight *sight)
{
	const struct tor_mesh_reader all = { write_tor, write_pair, answer };
	const struct tor_mesh_reader worst = { keep_tor, keep_pair, answer };
	char until[RM_WALL_TEXT];

	rm_wall_format(rm_wall_now(), until);
	fprintf(answer->out,
	    "{\"period\":\"%s\",\"seconds\":%" PRId64 ",\"until\":\"%s\","
	    "\"pairs_refused\":%" PRIu64 ",\"tors\":[",
	    period == TOR_MESH_HOUR ? "hour" : "minute",
	    tor_mesh_covered_ns(mesh, period, answer->now) / RM_NS_PER_S, until,
	    tor_mesh_refused_in(mesh, sight));
	tor_mesh_read(
	    mesh, period, sight, answer->now, answer->most > 0 ? &worst : &all);
	if (!answer->no_memory)
		write_worst(answer);
	if (!answer->in_pairs)
		begin_pairs(answer);
	fprintf(answer->out,
	    "],\"pairs_probed\":%" PRIu64 ",\"pairs_losing\":%" PRIu64 "}",
	    answer->probed, answer->losing);
}

/* False: an error was sent as the answer. */
static bool
read_question(struct rm_http_request *request, struct answer *answer,
    enum tor_mesh_period *period)
{
	const char *period_name = rm_http_query(request, "period");
	const char *by = rm_http_query(request, "by");
	uint64_t most = 0;

	if (period_name != NULL && strcmp(period_name, "hour") == 0) {
		*period = TOR_MESH_HOUR;
	} else if (period_name != NULL && strcmp(period_name, "minute") != 0) {
		rm_http_reply_error(request, 400, "?period= is minute or hour");
		return false;
	}
	if (!rm_http_query_number(request, "worst", 1, ANSWER_MAX_WORST, &most))
		return false;
	answer->most = most;
	answer->by_rtt = by != NULL && strcmp(by, "rtt") == 0;
	if (by != NULL && (most == 0 || (!answer->by_rtt && strcmp(by, "loss") != 0))) {
		rm_http_reply_error(request, 400, "?by= is loss or rtt, for ?worst=");
		return false;
	}
	return true;
}

void
tor_mesh_answer_get(struct rm_http_request *request, void *arg)
{
	struct answer answer = { .between = "", .now = rm_mono_now() };
	enum tor_mesh_period period = TOR_MESH_MINUTE;
	struct rm_sight sight;
	char *text = NULL;
	size_t len = 0;

	if (!read_question(request, &answer, &period))
		return;
	if (answer.most > 0)
		answer.worst = calloc(answer.most, sizeof(*answer.worst));
	if (answer.most == 0 || answer.worst != NULL)
		answer.out = open_memstream(&text, &len);
	if (answer.out != NULL) {
		rm_sight_of(&sight, request);
		write_all(&answer, arg, period, &sight);
		if (fclose(answer.out) != 0)
			len = 0;
	}
	if (len > 0 && !answer.no_memory)
		rm_http_reply_text(request, 200, text, len);
	else
		rm_http_reply_error(request, 500, "out of memory");
	free(text);
	free(answer.worst);
	free(answer.places);
}

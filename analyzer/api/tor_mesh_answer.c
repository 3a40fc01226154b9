#include "analyzer/api/tor_mesh_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/racks/tor_mesh.h"
#include "rackmesh/http/http_server.h"

struct answer {
	FILE
	    *out; /* rows are many: they are written without a json_t for each number */
	const char *between; /* what goes before the next item of a list */
	rm_mono_t now;
	bool in_pairs;
};

/* Names are valid: nothing in them needs an escape. */
static void
write_tor(const char *region, const char *tor, void *arg)
{
	struct answer *answer = arg;

	fprintf(answer->out, "%s{\"region\":\"%s\",\"tor\":\"%s\"}", answer->between,
	    region, tor);
	answer->between = ",";
}

/* As the aggregator's mesh_answer writes them. */
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

static void
write_pair(const struct tor_mesh_row *row, void *arg)
{
	struct answer *answer = arg;
	const uint64_t *counts = row->counts;
	FILE *out = answer->out;

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
	    rm_mono_since(answer->now, row->heard) / RM_NS_PER_MS);
}

static void
write_all(struct answer *answer, struct tor_mesh *mesh, enum tor_mesh_period period,
    const char *region)
{
	const struct tor_mesh_reader reader = { write_tor, write_pair, answer };
	char until[RM_WALL_TEXT];

	rm_wall_format(rm_wall_now(), until);
	fprintf(answer->out,
	    "{\"period\":\"%s\",\"seconds\":%" PRId64 ",\"until\":\"%s\","
	    "\"pairs_refused\":%" PRIu64 ",\"tors\":[",
	    period == TOR_MESH_HOUR ? "hour" : "minute",
	    tor_mesh_covered_ns(mesh, period, answer->now) / RM_NS_PER_S, until,
	    *tor_mesh_refused(mesh));
	tor_mesh_read(mesh, period, region, answer->now, &reader);
	if (!answer->in_pairs)
		begin_pairs(answer);
	fputs("]}", answer->out);
}

void
tor_mesh_answer_get(struct rm_http_request *request, void *arg)
{
	struct answer answer = { .between = "", .now = rm_mono_now() };
	const char *word = rm_http_query(request, "period");
	enum tor_mesh_period period = TOR_MESH_MINUTE;
	char *text = NULL;
	size_t len = 0;

	if (word != NULL && strcmp(word, "hour") == 0) {
		period = TOR_MESH_HOUR;
	} else if (word != NULL && strcmp(word, "minute") != 0) {
		rm_http_reply_error(request, 400, "?period= is minute or hour");
		return;
	}
	answer.out = open_memstream(&text, &len);
	if (answer.out != NULL) {
		write_all(&answer, arg, period, rm_http_query(request, "region"));
		if (fclose(answer.out) != 0)
			len = 0;
	}
	if (len > 0)
		rm_http_reply_text(request, 200, text, len);
	else
		rm_http_reply_error(request, 500, "out of memory");
	free(text);
}

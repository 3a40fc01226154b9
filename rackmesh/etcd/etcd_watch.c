#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd.h"
#include "rackmesh/etcd/etcd_call.h"
#include "rackmesh/etcd/line_splitter.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"

#define WATCH_MAX_WAITING (256u << 20) /* text of lines that are not confirmed yet */

struct line {
	struct rm_etcd_line line;
	struct line *next;
	size_t size;
	/* number of reads that had begun when the line arrived; only a read that begins
	 * later can confirm it */
	uint64_t reads;
};

struct rm_etcd_watch {
	struct rm_etcd *etcd;
	char *prefix;
	int64_t from, silence_ns;
	struct rm_etcd_watch_callbacks callbacks;
	void *arg;
	size_t endpoint;
	struct rm_http_call *stream;
	struct rm_etcd_call *read;
	uint64_t reads;  /* reads begun */
	int64_t vouched; /* a read has shown that the store has reached this revision */
	int64_t complete;    /* the owner has got all events up to this revision */
	uint64_t cluster_id; /* 0: not known yet */
	struct rm_timer *timer;
	rm_mono_t last_seen, opened; /* when the stream was opened */
	bool created, ended;
	bool *gone; /* set to true if the owner frees the watch in a callback */
	struct rm_line_splitter splitter;
	struct line *first, **last; /* lines that are not confirmed yet */
	size_t waiting;
};

static int watch_read(struct rm_etcd_watch *watch);
static int watch_open(struct rm_etcd_watch *watch);

static void
watch_drop_lines(struct rm_etcd_watch *watch)
{
	while (watch->first != NULL) {
		struct line *line = watch->first;

		watch->first = line->next;
		rm_etcd_line_clear(&line->line);
		free(line);
	}
	watch->last = &watch->first;
	watch->waiting = 0;
}

/* Reports the end to the owner, who frees the watch: do not use it afterwards. */
static void
watch_end(struct rm_etcd_watch *watch, int r, const char *error)
{
	if (watch->ended)
		return;
	watch->ended = true;
	rm_timer_stop(watch->timer);
	if (watch->stream != NULL)
		rm_http_call_cancel(watch->stream);
	watch->stream = NULL;
	if (watch->read != NULL)
		rm_etcd_call_cancel(watch->read);
	watch->read = NULL;
	watch_drop_lines(watch);
	if (r != -ESTALE && r != -EACCES && r != -ENOBUFS)
		rm_etcd_rotate(watch->etcd, watch->endpoint);
	watch->callbacks.on_end(r, error, watch->arg);
}

/* False: the watch was freed. */
static bool
watch_hand_over(struct rm_etcd_watch *watch, const struct rm_etcd_line *line)
{
	bool gone = false;

	watch->gone = &gone;
	if (line->last > watch->complete)
		watch->complete = line->last;
	if (line->count > 0)
		watch->callbacks.on_events(line->events, line->count, line->cluster_id,
		    line->revision, watch->arg);
	else
		watch->callbacks.on_progress(
		    line->cluster_id, watch->complete, watch->arg);
	if (gone)
		return false;
	watch->gone = NULL;
	return !watch->ended;
}

/* Passes lines up to the confirmed revision to the owner; false: the watch was freed.
 */
static bool
watch_flush(struct rm_etcd_watch *watch)
{
	while (watch->first != NULL && watch->first->line.last <= watch->vouched) {
		struct line *line = watch->first;
		bool here;

		watch->first = line->next;
		if (watch->first == NULL)
			watch->last = &watch->first;
		watch->waiting -= line->size;
		here = watch_hand_over(watch, &line->line);
		rm_etcd_line_clear(&line->line);
		free(line);
		if (!here)
			return false;
	}
	return true;
}

static int watch_open(struct rm_etcd_watch *watch);
static int watch_read(struct rm_etcd_watch *watch);

/* A read was answered: the member has a quorum, and its store has reached this
 * revision. */
static void
watch_take_read(
    struct rm_etcd_watch *watch, const struct rm_etcd_answer *answer, uint64_t number)
{
	struct rm_etcd_line sign = { .cluster_id = answer->cluster_id };

	watch->last_seen = rm_mono_now();
	if (answer->revision > watch->vouched)
		watch->vouched = answer->revision;
	if (watch->cluster_id == 0)
		watch->cluster_id = answer->cluster_id;
	if (answer->cluster_id != watch->cluster_id) {
		watch_end(watch, -ESTALE, "another cluster answers");
		return;
	}
	if (answer->revision < watch->from - 1 || answer->revision < watch->complete) {
		watch_end(watch, -ESTALE, "the revision of the store has gone back");
		return;
	}
	if (watch->stream == NULL && watch_open(watch) < 0) {
		watch_end(watch, -ENOMEM, "cannot open the stream");
		return;
	}
	if (!watch_flush(watch))
		return;
	if (watch->first != NULL && watch->first->reads < number) {
		watch_end(watch, -EPROTO, "events of a revision that does not exist");
		return;
	}
	if (watch->first != NULL)
		watch_read(watch); /* if it cannot start now, the timer starts it */
	watch_hand_over(watch, &sign);
}

static void
watch_on_read(struct rm_etcd_reply *reply, void *arg)
{
	struct rm_etcd_watch *watch = arg;

	watch->read = NULL;
	if (reply->answer.r == 0)
		watch_take_read(watch, &reply->answer, watch->reads);
	else if (reply->answer.r != -ETIMEDOUT && reply->answer.r != -EAGAIN)
		watch_end(watch, reply->answer.r, reply->answer.error);
}

static int
watch_read(struct rm_etcd_watch *watch)
{
	size_t len = strlen(watch->prefix);
	struct rm_etcd_range_request request = {
		.key = watch->prefix,
		.key_len = len,
		.limit = 1,
		.keys_only = true,
	};
	struct rm_etcd_ask ask = {
		.path = "/v3/kv/range",
		.timeout_ns = watch->silence_ns / 3,
		.pinned = true,
		.endpoint = watch->endpoint,
		.done = watch_on_read,
		.arg = watch,
		.owner = watch,
	};
	int r;

	if (watch->read != NULL)
		return 0;
	r = rm_etcd_json_range(&request, &ask.takes_body);
	if (r == 0)
		r = rm_etcd_call(watch->etcd, &ask, &watch->read);
	watch->reads += r == 0;
	return r;
}

/* False: the watch has ended, or was freed. */
static bool
watch_queue(struct rm_etcd_watch *watch, struct rm_etcd_line *line, size_t size)
{
	struct line *to = calloc(1, sizeof(*to));

	if (to == NULL || watch->waiting + size > WATCH_MAX_WAITING) {
		free(to);
		rm_etcd_line_clear(line);
		watch_end(watch, -ENOBUFS, "too many events wait");
		return false;
	}
	to->line = *line;
	to->size = size;
	to->reads = watch->reads;
	*watch->last = to;
	watch->last = &to->next;
	watch->waiting += size;
	return true;
}

/* Handles one line of the stream; false: the watch has ended, or was freed. */
static bool
watch_take_line(const char *text, size_t len, void *arg)
{
	struct rm_etcd_watch *watch = arg;
	struct rm_etcd_line line;
	int r;

	r = rm_etcd_json_line(text, len, &line);
	if (r < 0) {
		watch->etcd->counts.bad_answers++;
		watch_end(watch, r, "a malformed line");
		return false;
	}
	watch->etcd->counts.watch_lines++;
	if (line.r < 0) {
		if (line.token_refused)
			rm_etcd_token_refused(watch->etcd);
		watch_end(watch, line.r, line.error);
		return false;
	}
	watch->last_seen = rm_mono_now();
	if (line.cluster_id != watch->cluster_id) {
		rm_etcd_line_clear(&line);
		watch_end(watch, -ESTALE, "another cluster streams");
		return false;
	}
	watch->created |= line.created;
	/* This revision is the present one of the store; events with lower revisions
	 * may follow. */
	if (line.count == 0 && line.created)
		return true;
	/* The line has only a header: all events up to its revision were sent before
	 * it. */
	if (line.count == 0 && line.left_out == 0)
		line.last = line.revision;
	if (!watch_queue(watch, &line, len) || !watch_flush(watch))
		return false;
	if (watch->first != NULL)
		watch_read(watch); /* if it cannot start now, the timer starts it */
	return true;
}

static int
watch_on_data(const char *data, size_t len, void *arg)
{
	struct rm_etcd_watch *watch = arg;

	if (rm_line_splitter_feed(&watch->splitter, data, len, watch_take_line, watch) <
	    0)
		watch_end(watch, -ENOBUFS, "a line is too long");
	return 0;
}

static void
watch_on_done(const struct rm_http_answer *answer, void *arg)
{
	struct rm_etcd_watch *watch = arg;
	struct rm_etcd_reply reply;
	struct rm_etcd_line line;

	watch->stream = NULL;
	if (answer->r == 0 && answer->status != 200) {
		rm_etcd_json_answer(
		    answer->status, answer->body, answer->body_len, &reply);
		if (reply.token_refused)
			rm_etcd_token_refused(watch->etcd);
		watch_end(watch, reply.answer.r, reply.answer.error);
		return;
	}
	/* A member that shuts down reports it in a last line, which has no line
	 * break. */
	if (watch->splitter.len > 0 &&
	    rm_etcd_json_line(watch->splitter.text, watch->splitter.len, &line) == 0) {
		if (line.r < 0) {
			watch_end(watch, line.r, line.error);
			return;
		}
		rm_etcd_line_clear(&line);
	}
	watch_end(watch, answer->r == -ECONNREFUSED ? answer->r : -EIO,
	    answer->r < 0 ? strerror(-answer->r) : "the stream has ended");
}

static int
watch_open(struct rm_etcd_watch *watch)
{
	struct rm_http_exchange exchange = {
		.on_data = watch_on_data,
		.done = watch_on_done,
		.arg = watch,
	};
	char *body;
	int r;

	r = rm_etcd_json_watch(watch->prefix, watch->from, &body);
	if (r < 0)
		return r;
	exchange.body = body;
	exchange.body_len = strlen(body);
	r = rm_etcd_http(
	    watch->etcd, watch->endpoint, "/v3/watch", &exchange, &watch->stream);
	free(body);
	watch->opened = rm_mono_now();
	return r;
}

static void
watch_on_timer(void *arg)
{
	struct rm_etcd_watch *watch = arg;
	rm_mono_t now = rm_mono_now();
	int64_t silent = rm_mono_since(now, watch->last_seen);

	/* The stream is silent. Answers to reads do not count, because they do not show
	 * that the stream works. */
	if (silent >= watch->silence_ns ||
	    (watch->stream != NULL && !watch->created &&
		rm_mono_since(now, watch->opened) >= watch->silence_ns)) {
		watch_end(watch, -ETIMEDOUT, "silent for too long");
		return;
	}
	watch_read(watch); /* if the read cannot start, the watch ends as if the stream
			      were silent */
	silent = watch->silence_ns - silent;
	rm_timer_after(watch->timer,
	    silent < watch->silence_ns / 3 ? silent : watch->silence_ns / 3);
}

int
rm_etcd_watch_new(struct rm_etcd *etcd, const char *prefix, int64_t from,
    int64_t silence_ns, const struct rm_etcd_watch_callbacks *callbacks, void *arg,
    struct rm_etcd_watch **ret)
{
	struct rm_etcd_watch *watch;
	int r = -ENOMEM;

	if (from < 1 || silence_ns < RM_NS_PER_MS)
		return -EINVAL;
	watch = calloc(1, sizeof(*watch));
	if (watch == NULL)
		return -ENOMEM;
	watch->etcd = etcd;
	watch->from = from;
	watch->complete = from - 1;
	watch->silence_ns = silence_ns;
	watch->callbacks = *callbacks;
	watch->arg = arg;
	watch->last = &watch->first;
	watch->endpoint = etcd->endpoint;
	watch->last_seen = rm_mono_now();
	watch->prefix = strdup(prefix);
	if (watch->prefix == NULL)
		goto out;
	r = rm_timer_new(etcd->loop, watch_on_timer, watch, &watch->timer);
	if (r < 0)
		goto out;
	/* The stream is opened after the answer to the read: by then there is a token.
	 */
	r = watch_read(watch);
	if (r < 0)
		goto out;
	rm_timer_after(watch->timer, silence_ns / 3);
	etcd->counts.watches++;
	*ret = watch;
	return 0;
out:
	rm_etcd_watch_free(watch);
	return r;
}

void
rm_etcd_watch_free(struct rm_etcd_watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->gone != NULL)
		*watch->gone = true;
	if (watch->stream != NULL)
		rm_http_call_cancel(watch->stream);
	if (watch->read != NULL)
		rm_etcd_call_cancel(watch->read);
	watch_drop_lines(watch);
	rm_line_splitter_clear(&watch->splitter);
	rm_timer_free(watch->timer);
	free(watch->prefix);
	free(watch);
}

#define SPLITTER_KEPT (64u << 10) /* a larger buffer is freed after its line */

static int
splitter_keep(struct rm_line_splitter *splitter, const char *data, size_t len)
{
	size_t size = splitter->size > 0 ? splitter->size : 4096;
	char *text;

	if (len > RM_ETCD_MAX_LINE - splitter->len)
		return -ENOBUFS;
	while (size < splitter->len + len)
		size *= 2;
	if (size > splitter->size) {
		text = realloc(splitter->text, size);
		if (text == NULL)
			return -ENOBUFS;
		splitter->text = text;
		splitter->size = size;
	}
	memcpy(splitter->text + splitter->len, data, len);
	splitter->len += len;
	return 0;
}

/* Removes the line from the buffer first, because on_line may free the splitter. */
static bool
splitter_give(struct rm_line_splitter *splitter,
    bool (*on_line)(const char *text, size_t len, void *arg), void *arg)
{
	struct rm_line_splitter line = *splitter;
	bool here;

	*splitter = (struct rm_line_splitter){ 0 };
	here = on_line(line.text, line.len, arg);
	if (here && line.size <= SPLITTER_KEPT) {
		*splitter = line;
		splitter->len = 0;
	} else {
		free(line.text);
	}
	return here;
}

int
rm_line_splitter_feed(struct rm_line_splitter *splitter, const char *data, size_t len,
    bool (*on_line)(const char *text, size_t len, void *arg), void *arg)
{
	const char *end;
	int r;

	while (len > 0 && (end = memchr(data, '\n', len)) != NULL) {
		size_t part = (size_t)(end - data);

		if (splitter->len > 0) {
			r = splitter_keep(splitter, data, part);
			if (r < 0)
				return r;
			if (!splitter_give(splitter, on_line, arg))
				return 0;
		} else if (part > 0 && !on_line(data, part, arg)) {
			return 0;
		}
		data = end + 1;
		len -= part + 1;
	}
	return len > 0 ? splitter_keep(splitter, data, len) : 0;
}

void
rm_line_splitter_clear(struct rm_line_splitter *splitter)
{
	free(splitter->text);
	*splitter = (struct rm_line_splitter){ 0 };
}

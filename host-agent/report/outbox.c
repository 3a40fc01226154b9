#include "host-agent/report/outbox.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct outbox_item {
	STAILQ_ENTRY(outbox_item) entry;
	uint64_t seq;
	size_t results;
	rm_mono_t made, sent; /* sent: when the batch was last sent */
	/* for a doubtful batch: the reason to count if the peer has not received it */
	enum outbox_drop reason;
	size_t len;
	uint8_t data[] __attribute__((aligned(8)));
};

STAILQ_HEAD(outbox_list, outbox_item);

struct outbox {
	struct outbox_options options;
	struct outbox_list waiting; /* by ascending seq */
	/* Batches that are older than all batches in waiting, and whose bytes were
	 * freed. */
	struct outbox_list doubtful;
	/* The first batch in waiting that was not sent in this session. */
	struct outbox_item *unsent;
	size_t bytes;
	uint64_t last_seq; /* number of the newest batch */
	/* in this session, all batches up to this one were sent or had been counted by
	 * the peer */
	uint64_t through_seq;
	/* number of the newest batch sent in any session; sending a number up to this
	 * one again is a resend */
	uint64_t ever_sent_seq;
	bool open; /* there is a session */
	struct outbox_counts counts;
};

static void
tally_add(struct outbox_tally *tally, size_t results)
{
	tally->batches++;
	tally->results += results;
}

static void
tally_take(struct outbox_tally *tally, size_t results)
{
	tally->batches--;
	tally->results -= results;
}

int
outbox_new(const struct outbox_options *options, struct outbox **ret)
{
	struct outbox *outbox = calloc(1, sizeof(*outbox));

	if (outbox == NULL)
		return -ENOMEM;
	outbox->options = *options;
	STAILQ_INIT(&outbox->waiting);
	STAILQ_INIT(&outbox->doubtful);
	*ret = outbox;
	return 0;
}

static struct outbox_item *
take_waiting(struct outbox *outbox)
{
	struct outbox_item *item = STAILQ_FIRST(&outbox->waiting);

	STAILQ_REMOVE_HEAD(&outbox->waiting, entry);
	if (outbox->unsent == item)
		outbox->unsent = STAILQ_FIRST(&outbox->waiting);
	outbox->bytes -= item->len;
	tally_take(&outbox->counts.waiting, item->results);
	return item;
}

static struct outbox_item *
take_doubtful(struct outbox *outbox)
{
	struct outbox_item *item = STAILQ_FIRST(&outbox->doubtful);

	STAILQ_REMOVE_HEAD(&outbox->doubtful, entry);
	tally_take(&outbox->counts.doubtful, item->results);
	return item;
}

void
outbox_free(struct outbox *outbox)
{
	if (outbox == NULL)
		return;
	while (!STAILQ_EMPTY(&outbox->waiting))
		free(take_waiting(outbox));
	while (!STAILQ_EMPTY(&outbox->doubtful))
		free(take_doubtful(outbox));
	free(outbox);
}

static void
drop_doubtful(struct outbox *outbox)
{
	struct outbox_item *item = take_doubtful(outbox);

	tally_add(&outbox->counts.dropped[item->reason], item->results);
	free(item);
}

/* True: the peer may have counted the batch without this host knowing of it. */
static bool
item_in_doubt(const struct outbox *outbox, const struct outbox_item *item)
{
	return item->seq <=
	       (outbox->open ? outbox->through_seq : outbox->ever_sent_seq);
}

/* Drops the oldest batch. */
static void
drop_waiting(struct outbox *outbox, enum outbox_drop reason)
{
	struct outbox_item *item = take_waiting(outbox);
	struct outbox_item *shrunk;

	if (!item_in_doubt(outbox, item)) {
		tally_add(&outbox->counts.dropped[reason], item->results);
		free(item);
		return;
	}
	shrunk = realloc(item, sizeof(*item));
	if (shrunk != NULL)
		item = shrunk;
	item->reason = reason;
	STAILQ_INSERT_TAIL(&outbox->doubtful, item, entry);
	tally_add(&outbox->counts.doubtful, item->results);
	if (outbox->counts.doubtful.batches > outbox->options.max_items)
		drop_doubtful(outbox);
}

uint64_t
outbox_next_seq(const struct outbox *outbox)
{
	return outbox->last_seq + 1;
}

void
outbox_push(struct outbox *outbox, rm_mono_t made, size_t results,
    const struct wire_bytes *data)
{
	struct outbox_item *item = NULL;

	outbox->last_seq++;
	tally_add(&outbox->counts.made, results);
	if (data != NULL && data->len > outbox->options.max_bytes) {
		tally_add(&outbox->counts.dropped[OUTBOX_DROP_FULL], results);
		return;
	}
	if (data != NULL)
		item = malloc(sizeof(*item) + data->len);
	if (item == NULL) {
		tally_add(&outbox->counts.dropped[OUTBOX_DROP_MEMORY], results);
		return;
	}
	while (outbox->bytes > outbox->options.max_bytes - data->len ||
	       outbox->counts.waiting.batches >= outbox->options.max_items)
		drop_waiting(outbox, OUTBOX_DROP_FULL);

	item->seq = outbox->last_seq;
	item->results = results;
	item->made = made;
	item->len = data->len;
	memcpy(item->data, data->data, data->len);
	STAILQ_INSERT_TAIL(&outbox->waiting, item, entry);
	if (outbox->unsent == NULL)
		outbox->unsent = item;
	outbox->bytes += item->len;
	tally_add(&outbox->counts.waiting, results);
}

/* The peer has counted all batches up to number seq. */
static void
settle_through(struct outbox *outbox, uint64_t seq)
{
	struct outbox_item *item;

	while ((item = STAILQ_FIRST(&outbox->doubtful)) != NULL && item->seq <= seq) {
		take_doubtful(outbox);
		tally_add(&outbox->counts.acked, item->results);
		free(item);
	}
	while ((item = STAILQ_FIRST(&outbox->waiting)) != NULL && item->seq <= seq) {
		take_waiting(outbox);
		tally_add(&outbox->counts.acked, item->results);
		free(item);
	}
}

int
outbox_begin(struct outbox *outbox, uint64_t counted_seq)
{
	if (counted_seq > outbox->ever_sent_seq)
		return -EBADMSG;
	settle_through(outbox, counted_seq);
	/* The peer has not counted the other doubtful batches, whose bytes were freed.
	 */
	while (!STAILQ_EMPTY(&outbox->doubtful))
		drop_doubtful(outbox);
	outbox->through_seq = counted_seq;
	outbox->unsent = STAILQ_FIRST(&outbox->waiting);
	outbox->open = true;
	return 0;
}

void
outbox_end(struct outbox *outbox)
{
	outbox->open = false;
}

/* Returns the oldest batch that was sent in this session and is not acknowledged; NULL:
 * there is none. */
static const struct outbox_item *
oldest_in_flight(const struct outbox *outbox)
{
	const struct outbox_item *item = STAILQ_FIRST(&outbox->doubtful);

	if (item == NULL)
		item = STAILQ_FIRST(&outbox->waiting);
	return item != NULL && item->seq <= outbox->through_seq ? item : NULL;
}

int
outbox_peek(const struct outbox *outbox, rm_mono_t now, struct wire_bytes *ret)
{
	const struct outbox_item *oldest;

	if (!outbox->open || outbox->unsent == NULL)
		return -ENOENT;
	oldest = oldest_in_flight(outbox);
	if (oldest != NULL && rm_mono_since(now, oldest->sent) > OUTBOX_PATIENCE_NS)
		return -EAGAIN;
	*ret = (struct wire_bytes){ outbox->unsent->data, outbox->unsent->len };
	return 0;
}

void
outbox_sent(struct outbox *outbox, rm_mono_t now)
{
	struct outbox_item *item = outbox->unsent;

	item->sent = now;
	outbox->through_seq = item->seq;
	if (item->seq > outbox->ever_sent_seq) {
		outbox->ever_sent_seq = item->seq;
		tally_add(&outbox->counts.sent, item->results);
	} else {
		tally_add(&outbox->counts.resent, item->results);
	}
	outbox->unsent = STAILQ_NEXT(item, entry);
}

static void
note_ack(struct outbox *outbox, int64_t took_ns)
{
	int64_t step_ns = OUTBOX_ACK_FIRST_NS;

	for (size_t i = 0; i < OUTBOX_ACK_STEPS; i++, step_ns *= 2)
		outbox->counts.acked_within[i] += took_ns <= step_ns;
}

int
outbox_ack(struct outbox *outbox, uint64_t seq, rm_mono_t now)
{
	const struct outbox_item *item;

	if (!outbox->open || seq > outbox->through_seq)
		return -EBADMSG;
	STAILQ_FOREACH(item, &outbox->waiting, entry)
	{
		if (item->seq > seq)
			break;
		note_ack(outbox, rm_mono_since(now, item->sent));
	}
	settle_through(outbox, seq);
	return 0;
}

void
outbox_expire(struct outbox *outbox, rm_mono_t now)
{
	struct outbox_item *item;

	while ((item = STAILQ_FIRST(&outbox->waiting)) != NULL &&
	       rm_mono_since(now, item->made) > outbox->options.max_age_ns)
		drop_waiting(outbox, OUTBOX_DROP_OLD);
}

size_t
outbox_bytes(const struct outbox *outbox)
{
	return outbox->bytes;
}

const struct outbox_counts *
outbox_counts(const struct outbox *outbox)
{
	return &outbox->counts;
}

struct outbox_tally
outbox_dropped(const struct outbox *outbox)
{
	struct outbox_tally sum = { 0 };

	for (size_t i = 0; i < OUTBOX_DROPS; i++) {
		sum.batches += outbox->counts.dropped[i].batches;
		sum.results += outbox->counts.dropped[i].results;
	}
	return sum;
}

#include "region-controller/etcd/store_writes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/core/backoff.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/store/store.h"
#include "region-controller/store/store_plan.h"

struct store_value {
	char *text; /* NULL: not made yet, or the key is to be deleted */
	size_t len;
	uint8_t *plan; /* the plan from which text is made */
	size_t plan_len;
	uint64_t digest, above;
	struct store_reply reply;
};

/* ---- the value of a write: a text, or a plan that is formatted later ---- */

/* Copies the plan. -ENOMEM. */
static int
store_value_of_plan(struct store_value *ret, const struct store_draft *draft)
{
	uint8_t *copy = malloc(draft->bytes.len);

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, draft->bytes.data, draft->bytes.len);
	*ret = (struct store_value){
		.plan = copy,
		.plan_len = draft->bytes.len,
		.digest = draft->digest,
		.above = draft->above,
	};
	return 0;
}

/* Makes the text if there is none yet. revision: the store has at least this
 * revision. */
static int
store_value_make(struct store_value *value, uint64_t revision)
{
	const struct wire_bytes bytes = { value->plan, value->plan_len };
	uint64_t base;
	int r;

	if (value->plan == NULL || value->text != NULL)
		return 0;
	/* The write itself will have a revision that is higher by at least one. */
	base = value->above > revision ? value->above - revision : 0;
	r = store_plan_write(&bytes, value->digest, base, &value->text, &value->len);
	if (r == 0) {
		free(value->plan);
		value->plan = NULL;
	}
	return r;
}

/* Frees the value, and calls its reply. */
static void
store_value_end(struct store_value *value, int r, const char *sentence)
{
	struct store_value ended = *value;

	*value = (struct store_value){ 0 };
	free(ended.text);
	free(ended.plan);
	if (ended.reply.done != NULL)
		ended.reply.done(r, sentence, ended.reply.token, ended.reply.arg);
}

#define BACKOFF_BASE_NS (100 * RM_NS_PER_MS)
#define BACKOFF_CAP_NS (2 * RM_NS_PER_S)

struct write {
	UT_hash_handle hh;
	char key[STORE_KEY_BYTES];
	struct store_value value; /* the newest value that waits */
	bool has_value;
	bool is_in_progress; /* the older value in `flying` is being written */
	struct store_value flying;
};

struct store_writes {
	struct store_writes_options options;
	struct write *all; /* all writes, in the order of their first put */
	struct write *batch[STORE_WRITES_OPS];
	size_t batch_count;
	struct rm_etcd_compare fence[RM_ETCD_FENCE]; /* the conditions of the batch */
	char fence_key[STORE_KEY_BYTES];
	size_t max_ops;
	bool is_asking, is_armed, is_failing;
	bool may_be_done; /* an earlier attempt may have written the batch */
	/* era: increases each time that all writes are dropped; asked_in: value of era
	 * when the running transaction was sent. If era has changed since, its answer
	 * is ignored. */
	uint64_t era, asked_in;
	struct rm_backoff backoff;
	struct rm_timer *timer;
	struct store_writes_counts counts;
};

/* ---- keys --------------------------------------------------------------------- */

static struct write *
find(const struct store_writes *writes, const char *key)
{
	struct write *write = NULL;

	HASH_FIND_STR(writes->all, key, write);
	return write;
}

static struct write *
write_of(struct store_writes *writes, const char *key)
{
	struct write *write = find(writes, key);

	if (write != NULL)
		return write;
	write = calloc(1, sizeof(*write));
	if (write == NULL || strlen(key) >= sizeof(write->key)) {
		free(write);
		return NULL;
	}
	strcpy(write->key, key);
	HASH_ADD_STR(writes->all, key, write);
	if (write->hh.tbl == NULL) { /* uthash could not grow */
		free(write);
		return NULL;
	}
	writes->counts.waiting++;
	return write;
}

/* Removes the write if no value of it is left. */
static void
write_release(struct store_writes *writes, struct write *write)
{
	if (write->has_value || write->is_in_progress)
		return;
	HASH_DEL(writes->all, write);
	writes->counts.waiting--;
	free(write);
}

static void
arm(struct store_writes *writes, int64_t ns)
{
	if (writes->is_asking || writes->is_armed)
		return;
	writes->is_armed = true;
	rm_timer_after(writes->timer, ns);
}

/* Moves *value into the queue, as the newest value of the key. */
static int
put(struct store_writes *writes, const char *key, struct store_value *value)
{
	struct write *write = write_of(writes, key);

	if (write == NULL) {
		value->reply.done = NULL;
		store_value_end(value, 0, "");
		return -ENOMEM;
	}
	if (write->has_value)
		store_value_end(&write->value, -ECANCELED, "a newer value replaced it");
	write->value = *value;
	write->has_value = true;
	arm(writes, writes->options.gather_ns);
	return 0;
}

int
store_writes_put(struct store_writes *writes, const char *key, char *text,
    const struct store_reply *reply)
{
	struct store_value value = { .text = text,
		.len = text == NULL ? 0 : strlen(text) };

	if (reply != NULL)
		value.reply = *reply;
	return put(writes, key, &value);
}

int
store_writes_put_plan(
    struct store_writes *writes, const char *key, const struct store_draft *draft)
{
	struct store_value value;
	int r;

	r = store_value_of_plan(&value, draft);
	if (r < 0)
		return r;
	return put(writes, key, &value);
}

/* ---- transactions ---- */

/* False: the write is left out of the batch. */
static bool
is_writable(struct store_writes *writes, struct write *write)
{
	int64_t revision = writes->options.revision(writes->options.arg);
	int r = store_value_make(&write->value, (uint64_t)revision);

	if (r == 0 && write->value.len <= RM_ETCD_MAX_VALUE_BYTES)
		return true;
	writes->counts.too_large++;
	writes->options.on_too_large(write->key, write->value.len, writes->options.arg);
	write->has_value = false;
	store_value_end(&write->value, -EMSGSIZE, "larger than etcd takes");
	return false;
}

static void
fill_batch(struct store_writes *writes)
{
	struct write *write, *next;
	size_t bytes = 0;

	HASH_ITER (hh, writes->all, write, next) {
		if (!write->has_value)
			continue;
		if (!is_writable(writes, write)) {
			write_release(writes, write);
			continue;
		}
		if (writes->batch_count > 0 &&
		    bytes + write->value.len > STORE_WRITES_BYTES)
			break;
		bytes += write->value.len;
		write->flying = write->value;
		write->value = (struct store_value){ 0 };
		write->has_value = false;
		write->is_in_progress = true;
		writes->batch[writes->batch_count++] = write;
		if (writes->batch_count >= writes->max_ops)
			break;
	}
	writes->counts.bytes += bytes;
}

static void on_answer(const struct rm_etcd_answer *answer, void *arg);

static void
send_batch(struct store_writes *writes)
{
	struct rm_etcd_op ops[STORE_WRITES_OPS];
	int r;

	for (size_t i = 0; i < writes->batch_count; i++)
		ops[i] = (struct rm_etcd_op){
			.key = writes->batch[i]->key,
			.value = writes->batch[i]->flying.text,
			.value_len = writes->batch[i]->flying.len,
		};
	r = rm_etcd_txn(writes->options.etcd, writes->fence, RM_ETCD_FENCE, ops,
	    writes->batch_count, on_answer, writes);
	if (r < 0) {
		writes->counts.failed++;
		arm(writes, rm_backoff_next_ns(&writes->backoff, rm_random_u64()));
		return;
	}
	writes->counts.transactions++;
	writes->is_asking = true;
	writes->asked_in = writes->era;
}

static void
turn(void *arg)
{
	struct store_writes *writes = arg;
	struct rm_etcd_compare fence[RM_ETCD_FENCE];

	writes->is_armed = false;
	/* If this controller does not lead any more, the owner will soon drop all
	 * writes. */
	if (writes->is_asking || !writes->options.fence(fence, writes->options.arg))
		return;
	if (writes->batch_count == 0) {
		fill_batch(writes);
		writes->may_be_done = false;
		strncpy(writes->fence_key, fence[0].key, sizeof(writes->fence_key) - 1);
		for (size_t i = 0; i < RM_ETCD_FENCE; i++) {
			writes->fence[i] = fence[i];
			writes->fence[i].key = writes->fence_key;
		}
	}
	if (writes->batch_count > 0)
		send_batch(writes);
}

static void
end_batch(struct store_writes *writes, int r, const char *sentence)
{
	size_t count = writes->batch_count;

	writes->batch_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct write *write = writes->batch[i];
		struct store_value ended = write->flying;

		write->flying = (struct store_value){ 0 };
		write->is_in_progress = false;
		write_release(writes, write);
		store_value_end(&ended, r, sentence);
	}
}

/* The batch was too large: halves its size. A single write that is too large is
 * removed. */
static void
make_smaller(struct store_writes *writes, const char *error)
{
	if (writes->batch_count == 1) {
		writes->counts.too_large++;
		writes->options.on_too_large(writes->batch[0]->key,
		    writes->batch[0]->flying.len, writes->options.arg);
		end_batch(writes, -EMSGSIZE, error);
		writes->max_ops = STORE_WRITES_OPS;
		return;
	}
	writes->max_ops = writes->batch_count / 2;
	for (size_t i = writes->max_ops; i < writes->batch_count; i++) {
		struct write *write = writes->batch[i];

		/* The write was not done. If there is a newer value of its key, that
		 * one is written instead. */
		write->is_in_progress = false;
		if (write->has_value) {
			store_value_end(
			    &write->flying, -ECANCELED, "a newer value replaced it");
		} else {
			write->value = write->flying;
			write->flying = (struct store_value){ 0 };
			write->has_value = true;
		}
	}
	writes->batch_count = writes->max_ops;
}

static bool
is_unknown(int r)
{
	return r == -ETIMEDOUT || r == -EIO || r == -EPROTO;
}

static void
on_answer(const struct rm_etcd_answer *answer, void *arg)
{
	struct store_writes *writes = arg;
	int64_t pause = 0;

	writes->is_asking = false;
	if (writes->asked_in != writes->era) {
		arm(writes, 0);
		return;
	}
	if (answer->r == 0 && answer->succeeded) {
		writes->counts.operations += writes->batch_count;
		rm_backoff_reset(&writes->backoff);
		writes->is_failing = false;
		end_batch(writes, 0, "");
	} else if (answer->r == 0) {
		writes->counts.fenced++;
		store_writes_drop(writes);
		writes->options.on_fenced(writes->options.arg);
	} else if (answer->r == -EMSGSIZE) {
		make_smaller(writes, answer->error);
	} else {
		writes->counts.failed++;
		if (!writes->is_failing)
			writes->options.on_failing(
			    answer->r, answer->error, writes->options.arg);
		writes->is_failing = true;
		writes->may_be_done |= is_unknown(answer->r);
		pause = rm_backoff_next_ns(&writes->backoff, rm_random_u64());
	}
	if (HASH_COUNT(writes->all) > 0)
		arm(writes, pause);
}

/* ---- creation and end ---- */

void
store_writes_drop(struct store_writes *writes)
{
	struct write *write, *next;

	writes->era++;
	if (writes->is_asking || writes->may_be_done)
		end_batch(
		    writes, -ETIMEDOUT, "leadership was lost before etcd had answered");
	else
		end_batch(writes, -ECANCELED, "leadership was lost");
	HASH_ITER (hh, writes->all, write, next) {
		struct store_value ended = write->value;

		write->value = (struct store_value){ 0 };
		write->has_value = false;
		write_release(writes, write);
		store_value_end(&ended, -ECANCELED, "leadership was lost");
	}
}

int
store_writes_new(struct rm_loop *loop, const struct store_writes_options *options,
    struct store_writes **ret)
{
	struct store_writes *writes = calloc(1, sizeof(*writes));
	int r;

	if (writes == NULL)
		return -ENOMEM;
	writes->options = *options;
	writes->max_ops = STORE_WRITES_OPS;
	writes->backoff = (struct rm_backoff){ BACKOFF_BASE_NS, BACKOFF_CAP_NS, 0 };
	r = rm_timer_new(loop, turn, writes, &writes->timer);
	if (r < 0) {
		store_writes_free(writes);
		return r;
	}
	*ret = writes;
	return 0;
}

void
store_writes_free(struct store_writes *writes)
{
	if (writes == NULL)
		return;
	store_writes_drop(writes);
	rm_timer_free(writes->timer);
	free(writes);
}

bool
store_writes_waits(const struct store_writes *writes, const char *key)
{
	return find(writes, key) != NULL;
}

const struct store_writes_counts *
store_writes_counts(const struct store_writes *writes)
{
	return &writes->counts;
}

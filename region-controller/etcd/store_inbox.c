#include "region-controller/etcd/store_inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"

enum kind { PUT, DELETE, SYNCED };

struct item {
	struct item *next;
	enum kind kind;
	uint64_t restarts;
	int64_t revision;
	/* the change; its key and its value follow this struct */
	struct rm_etcd_value value;
	size_t size;
	char bytes[];
};

struct store_inbox {
	struct store_inbox_callbacks callbacks;
	struct item *first, **last;
	struct rm_timer *timer;
	bool is_open;    /* an item has arrived after the last synced */
	rm_mono_t begun; /* when the first such item arrived */
	struct store_inbox_counts counts;
};

static void
hand_on(struct store_inbox *inbox, const struct item *item)
{
	const struct store_inbox_callbacks *to = &inbox->callbacks;

	if (item->kind == PUT)
		to->on_put(&item->value, item->restarts, to->arg);
	else if (item->kind == DELETE)
		to->on_delete(item->value.key, item->restarts, to->arg);
	else
		to->on_synced(item->revision, item->restarts, to->arg);
}

static void
hand_on_first(struct store_inbox *inbox)
{
	struct item *item = inbox->first;

	inbox->first = item->next;
	if (inbox->first == NULL)
		inbox->last = &inbox->first;
	inbox->counts.waiting--;
	inbox->counts.waiting_bytes -= item->size;
	hand_on(inbox, item);
	free(item);
}

static void
turn(void *arg)
{
	struct store_inbox *inbox = arg;
	rm_mono_t begun = rm_mono_now();

	while (inbox->first != NULL &&
	       rm_mono_since(rm_mono_now(), begun) < STORE_INBOX_TURN_NS)
		hand_on_first(inbox);
	if (inbox->first != NULL)
		rm_timer_after(inbox->timer, 0);
}

/* Returns NULL if the inbox is full. */
static struct item *
copy_of(const struct store_inbox *inbox, const struct item *from)
{
	size_t key_len = from->kind == SYNCED ? 0 : strlen(from->value.key);
	size_t len = from->kind == PUT ? from->value.value_len : 0;
	size_t size = sizeof(*from) + key_len + len + 2;
	struct item *item;

	if (inbox->counts.waiting_bytes + size > STORE_INBOX_BYTES)
		return NULL;
	item = malloc(size);
	if (item == NULL)
		return NULL;
	*item = *from;
	item->next = NULL;
	item->size = size;
	if (from->kind == SYNCED)
		return item;
	item->value.key = memcpy(item->bytes, from->value.key, key_len + 1);
	item->value.value = item->bytes + key_len + 1;
	if (len > 0)
		memcpy(item->bytes + key_len + 1, from->value.value, len);
	item->bytes[key_len + 1 + len] = '\0';
	return item;
}

static bool
is_time_left(struct store_inbox *inbox)
{
	rm_mono_t now = rm_mono_now();

	if (!inbox->is_open)
		inbox->begun = now;
	inbox->is_open = true;
	return rm_mono_since(now, inbox->begun) < STORE_INBOX_TURN_NS;
}

static void
take(struct store_inbox *inbox, const struct item *from)
{
	struct item *item;

	if (inbox->first == NULL && is_time_left(inbox)) {
		hand_on(inbox, from);
		return;
	}
	item = copy_of(inbox, from);
	if (item == NULL) {
		inbox->counts.undeferred++;
		while (inbox->first != NULL)
			hand_on_first(inbox);
		hand_on(inbox, from);
		return;
	}
	if (inbox->first == NULL)
		rm_timer_after(inbox->timer, 0);
	*inbox->last = item;
	inbox->last = &item->next;
	inbox->counts.deferred++;
	inbox->counts.waiting++;
	inbox->counts.waiting_bytes += item->size;
}

void
store_inbox_put(
    struct store_inbox *inbox, const struct rm_etcd_value *value, uint64_t restarts)
{
	const struct item item = { .kind = PUT, .restarts = restarts, .value = *value };

	take(inbox, &item);
}

void
store_inbox_delete(struct store_inbox *inbox, const char *key, uint64_t restarts)
{
	const struct item item = {
		.kind = DELETE, .restarts = restarts, .value.key = key
	};

	take(inbox, &item);
}

void
store_inbox_synced(struct store_inbox *inbox, int64_t revision, uint64_t restarts)
{
	const struct item item = {
		.kind = SYNCED, .restarts = restarts, .revision = revision
	};

	take(inbox, &item);
	inbox->is_open = false;
}

/* ---- creation and end ---- */

int
store_inbox_new(struct rm_loop *loop, const struct store_inbox_callbacks *callbacks,
    struct store_inbox **ret)
{
	struct store_inbox *inbox = calloc(1, sizeof(*inbox));
	int r;

	if (inbox == NULL)
		return -ENOMEM;
	inbox->callbacks = *callbacks;
	inbox->last = &inbox->first;
	r = rm_timer_new(loop, turn, inbox, &inbox->timer);
	if (r < 0) {
		store_inbox_free(inbox);
		return r;
	}
	*ret = inbox;
	return 0;
}

void
store_inbox_free(struct store_inbox *inbox)
{
	struct item *item;

	if (inbox == NULL)
		return;
	while ((item = inbox->first) != NULL) {
		inbox->first = item->next;
		free(item);
	}
	rm_timer_free(inbox->timer);
	free(inbox);
}

bool
store_inbox_is_empty(const struct store_inbox *inbox)
{
	return inbox->first == NULL;
}

const struct store_inbox_counts *
store_inbox_counts(const struct store_inbox *inbox)
{
	return &inbox->counts;
}

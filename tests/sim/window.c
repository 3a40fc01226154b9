#include "tests/sim/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct summed {
	struct seen_flow flow; /* counts of all seconds */
	bool seen; /* in at least one second, neither end of the flow was excused */
};

struct window {
	struct summed *flows;
	size_t count, allocated;
	uint32_t *slots; /* 1 + flow; 0: free */
	size_t slot_count;
	struct passage *passages;
	size_t passages_allocated;
};

int
seen_window_new(struct window **ret)
{
	struct window *w = calloc(1, sizeof *w);

	if (w == NULL)
		return -ENOMEM;
	*ret = w;
	return 0;
}

void
seen_window_free(struct window *w)
{
	if (w == NULL)
		return;
	free(w->flows);
	free(w->slots);
	free(w->passages);
	free(w);
}

void
seen_window_clear(struct window *w)
{
	w->count = 0;
	if (w->slots != NULL)
		memset(w->slots, 0, w->slot_count * sizeof *w->slots);
}

static bool
is_same(const struct seen_flow *a, const struct seen_flow *b)
{
	return a->src == b->src && a->dst == b->dst && a->port == b->port &&
	       a->dscp == b->dscp && a->large == b->large && a->traced == b->traced &&
	       a->out_count == b->out_count && a->back_count == b->back_count &&
	       memcmp(a->out, b->out, a->out_count * sizeof *a->out) == 0 &&
	       memcmp(a->back, b->back, a->back_count * sizeof *a->back) == 0;
}

static size_t
slot_of(const struct window *w, const struct seen_flow *f)
{
	uint64_t hash = (uint64_t)f->src << 32 | f->dst;

	hash = (hash ^ f->port) * 0x9e3779b97f4a7c15U;
	hash = (hash ^ hash >> 29 ^ f->dscp ^ (uint64_t)f->large << 7) *
	       0xbf58476d1ce4e5b9U;
	/* Flows that bounce off a core differ only in their path. */
	for (uint8_t i = 0; i < f->out_count; i++)
		hash = (hash ^ hash >> 31 ^ f->out[i]) * 0x94d049bb133111ebU;
	return (size_t)(hash ^ hash >> 32) & (w->slot_count - 1);
}

static void
put_slot(struct window *w, size_t flow)
{
	size_t at = slot_of(w, &w->flows[flow].flow);

	while (w->slots[at] != 0)
		at = (at + 1) & (w->slot_count - 1);
	w->slots[at] = (uint32_t)flow + 1;
}

/* Half of the slots stay free. */
static int
make_room(struct window *w)
{
	const size_t more = w->allocated > 0 ? 2 * w->allocated : 1024;
	struct summed *flows;
	uint32_t *slots;

	if (w->count < w->allocated)
		return 0;
	flows = realloc(w->flows, more * sizeof *flows);
	if (flows == NULL)
		return -ENOMEM;
	w->flows = flows;
	slots = calloc(2 * more, sizeof *slots);
	if (slots == NULL)
		return -ENOMEM;
	free(w->slots);
	w->slots = slots;
	w->slot_count = 2 * more;
	w->allocated = more;
	for (size_t i = 0; i < w->count; i++)
		put_slot(w, i);
	return 0;
}

static struct summed *
find(struct window *w, const struct seen_flow *f)
{
	size_t at = slot_of(w, f);

	for (; w->slots[at] != 0; at = (at + 1) & (w->slot_count - 1))
		if (is_same(&w->flows[w->slots[at] - 1].flow, f))
			return &w->flows[w->slots[at] - 1];
	return NULL;
}

static void
sum_up(struct seen_flow *sum, const struct seen_flow *f)
{
	sum->sent += f->sent;
	sum->forward += f->forward;
	sum->reverse += f->reverse;
	sum->unknown += f->unknown;
	sum->slow += f->slow;
}

int
seen_window_add(struct window *w, const struct seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct seen_flow *f = &seen->flows[i];
		const bool is_seen = !f->src_stalled && !f->dst_stalled;
		struct summed *sum;

		if (make_room(w) < 0)
			return -ENOMEM;
		sum = find(w, f);
		if (sum == NULL) {
			w->flows[w->count] = (struct summed){ *f, is_seen };
			put_slot(w, w->count++);
			continue;
		}
		sum_up(&sum->flow, f);
		sum->seen |= is_seen;
	}
	return 0;
}

static void
add_path(struct passage *p, const uint32_t *links, uint8_t count)
{
	memcpy(p->links + p->count, links, count * sizeof *links);
	p->count += count;
}

/* Returns one or two passages. */
static size_t
split(const struct seen_flow *f, struct passage *ret)
{
	const uint32_t lost = f->forward + f->reverse + f->unknown;

	ret[0] = (struct passage){ .src = f->src, .dst = f->dst, .sent = f->sent };
	if (!f->traced || f->unknown > 0) {
		ret[0].lost = lost;
		if (f->traced) {
			add_path(&ret[0], f->out, f->out_count);
			add_path(&ret[0], f->back, f->back_count);
		}
		return 1;
	}
	ret[1] = ret[0];
	ret[1].back = true;
	ret[0].lost = f->forward;
	add_path(&ret[0], f->out, f->out_count);
	ret[1].sent -= f->forward;
	ret[1].lost = f->reverse;
	add_path(&ret[1], f->back, f->back_count);
	return ret[1].sent > 0 ? 2 : 1;
}

int
seen_window_passages(struct window *w, const struct passage **ret, size_t *ret_count)
{
	size_t count = 0;

	if (w->passages_allocated < 2 * w->count + 2) {
		free(w->passages);
		w->passages_allocated = 0;
		w->passages = calloc(2 * w->count + 2, sizeof *w->passages);
		if (w->passages == NULL)
			return -ENOMEM;
		w->passages_allocated = 2 * w->count + 2;
	}
	for (size_t i = 0; i < w->count; i++)
		if (w->flows[i].seen && w->flows[i].flow.sent > 0)
			count += split(&w->flows[i].flow, w->passages + count);
	*ret = w->passages;
	*ret_count = count;
	return 0;
}

#include "tests/sim/windowed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/window.h"

int
windowed_new(const struct scheme_type *type, const struct clos *clos,
    const double *values, windowed_judge_fn *judge_window, struct scheme **ret)
{
	struct windowed *w = calloc(1, sizeof *w);

	if (w == NULL)
		return -ENOMEM;
	w->scheme.type = type;
	w->clos = clos;
	memcpy(w->values, values, type->parameter_count * sizeof *values);
	w->judge_window = judge_window;
	if (seen_window_new(&w->window) < 0) {
		free(w);
		return -ENOMEM;
	}
	*ret = &w->scheme;
	return 0;
}

void
windowed_free(struct scheme *scheme)
{
	struct windowed *w = (struct windowed *)scheme;

	if (w == NULL)
		return;
	seen_window_free(w->window);
	free(w->named);
	free(w->before);
	free(w);
}

static void
swap_named(struct windowed *w)
{
	struct scheme_named *named = w->before;
	const size_t allocated = w->before_allocated;

	w->before = w->named;
	w->before_count = w->named_count;
	w->before_allocated = w->named_allocated;
	w->named = named;
	w->named_count = 0;
	w->named_allocated = allocated;
}

/* Windows follow each other without gaps, from the start of the run on. */
static bool
is_full(const struct windowed *w, int64_t end_ns)
{
	const int64_t length = (int64_t)(w->values[SCHEME_WINDOW] * 1e9);

	return end_ns / length != w->now_ns / length;
}

int
windowed_report(struct scheme *scheme, const struct seen *seen)
{
	struct windowed *w = (struct windowed *)scheme;
	const bool full = is_full(w, seen->end_ns);
	const struct passage *passages;
	size_t count;
	int r;

	w->now_ns = seen->end_ns;
	r = seen_window_add(w->window, seen);
	if (r < 0 || !full)
		return r;
	r = seen_window_passages(w->window, &passages, &count);
	if (r < 0)
		return r;
	seen_window_clear(w->window);
	swap_named(w);
	return w->judge_window(w, passages, count);
}

int
windowed_judge(struct scheme *scheme, const struct scheme_named **ret)
{
	struct windowed *w = (struct windowed *)scheme;

	*ret = w->named;
	return (int)w->named_count;
}

/* Probes cannot distinguish the cable of an RNIC from the RNIC. */
static uint32_t
seen_from_outside(const struct clos *clos, uint32_t part)
{
	const struct clos_part *p = clos_part(clos, part);

	if (p->type != CLOS_LINK)
		return part;
	if (clos_part(clos, p->from)->type == CLOS_RNIC)
		return p->from;
	return clos_part(clos, p->to)->type == CLOS_RNIC ? p->to : part;
}

int
windowed_name(struct windowed *w, uint32_t part, double confidence)
{
	struct scheme_named named = { .part = seen_from_outside(w->clos, part),
		.other = CLOS_NONE,
		.confidence = confidence,
		.since_ns = w->now_ns };

	for (size_t i = 0; i < w->named_count; i++)
		if (w->named[i].part == named.part)
			return 0;
	for (size_t i = 0; i < w->before_count; i++)
		if (w->before[i].part == named.part)
			named.since_ns = w->before[i].since_ns;
	if (w->named_count == w->named_allocated) {
		const size_t more = w->named_allocated > 0 ? 2 * w->named_allocated : 8;
		struct scheme_named *wider = realloc(w->named, more * sizeof *wider);

		if (wider == NULL)
			return -ENOMEM;
		w->named = wider;
		w->named_allocated = more;
	}
	w->named[w->named_count++] = named;
	return 0;
}

static bool
touches(const struct clos *clos, uint32_t link, uint32_t sw)
{
	const struct clos_part *p = clos_part(clos, link);

	/* The RNIC is named instead of its cable. */
	return p->type == CLOS_RNIC ? p->to == sw : p->from == sw || p->to == sw;
}

/* Both directions of a cable count as one. */
static size_t
cables_of(const struct windowed *w, uint32_t sw)
{
	size_t cables = 0;

	for (size_t i = 0; i < w->named_count; i++) {
		const uint32_t part = w->named[i].part;
		bool again = false;

		if (!touches(w->clos, part, sw))
			continue;
		for (size_t k = 0; k < i; k++)
			again |= w->named[k].part == clos_part(w->clos, part)->twin;
		cables += !again;
	}
	return cables;
}

int
windowed_gather_devices(struct windowed *w, double share, double least)
{
	const uint32_t first = clos_first(w->clos, CLOS_TOR);

	for (uint32_t sw = first; sw < first + clos_switches(w->clos); sw++) {
		const uint32_t *links;
		const uint32_t ports = clos_leaving(w->clos, sw, &links);
		const size_t cables = cables_of(w, sw);
		size_t kept = 0;

		if ((double)cables < least || (double)cables < share * ports)
			continue;
		for (size_t i = 0; i < w->named_count; i++)
			if (!touches(w->clos, w->named[i].part, sw))
				w->named[kept++] = w->named[i];
		w->named_count = kept;
		if (windowed_name(w, sw, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

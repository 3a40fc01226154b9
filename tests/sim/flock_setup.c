#include "tests/sim/flock_setup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/sim/dice.h"

#define SECONDS 120
#define GOOD_LOSS 1e-4 /* at most */
#define BUSY_RACKS 0.05
#define BUSY_SHARE 0.5

const double flock_rates[FLOCK_RATES] = { 0.002, 0.004, 0.006, 0.010, 0.014, 0.018 };

struct flock_case {
	struct flock_options options;
	struct clos *clos;
	double *loss; /* for each link, from the first link on */
	struct truth *truths;
	size_t truth_count;
	struct seen_flow *flows;
	size_t flow_count;
};

static double *
loss_of(const struct flock_case *c, uint32_t link)
{
	return &c->loss[link - clos_first(c->clos, CLOS_LINK)];
}

static double
draw_loss(const struct flock_case *c, struct dice *dice)
{
	return c->options.loss > 0 ? c->options.loss
				   : flock_rates[dice_below(dice, FLOCK_RATES)];
}

static void
fail_part(struct flock_case *c, uint32_t part, double loss)
{
	c->truths[c->truth_count++] = (struct truth){ .part = part,
		.kind = "lossy",
		.loss = loss,
		.to_ns = SCORE_FOREVER,
		.counts = true };
}

/* Draws faulty links between switches; no link is drawn twice. */
static void
fail_links(struct flock_case *c, struct dice *dice)
{
	const uint32_t first = clos_first(c->clos, CLOS_LINK) + 2 * clos_rnics(c->clos);
	const uint32_t count = clos_parts(c->clos) - first;

	while (c->truth_count < c->options.faults) {
		const uint32_t link = first + (uint32_t)dice_below(dice, count);
		const double loss = draw_loss(c, dice);

		if (*loss_of(c, link) > GOOD_LOSS)
			continue;
		*loss_of(c, link) = loss;
		fail_part(c, link, loss);
	}
}

static void
fail_switch(struct flock_case *c, struct dice *dice)
{
	const uint32_t sw = clos_first(c->clos, CLOS_TOR) +
			    (uint32_t)dice_below(dice, clos_switches(c->clos));
	const uint32_t *links;
	const uint32_t ports = clos_leaving(c->clos, sw, &links);
	const double share = 0.25 + 0.75 * dice_share(dice);
	uint32_t left = (uint32_t)ceil(share * ports);

	fail_part(c, sw, share);
	for (uint32_t i = 0; i < ports; i++) {
		if (dice_below(dice, ports - i) >= left)
			continue;
		left--;
		*loss_of(c, links[i]) = draw_loss(c, dice);
		*loss_of(c, clos_part(c->clos, links[i])->twin) = draw_loss(c, dice);
	}
}

/* Returns how many of this number of packets are lost: draws the distances between
 * losses. */
static uint32_t
draw_lost(uint32_t sent, double loss, struct dice *dice)
{
	const double log_kept = log1p(-loss);
	uint32_t lost = 0;
	double at = 0;

	if (loss <= 0)
		return 0;
	for (;;) {
		at += floor(log1p(-dice_share(dice)) / log_kept) + 1;
		if (at > sent)
			return lost;
		lost++;
	}
}

static uint32_t
draw_path(const struct flock_case *c, const uint32_t *links, uint8_t count,
    uint32_t sent, struct dice *dice)
{
	uint32_t left = sent;

	for (uint8_t i = 0; i < count; i++)
		left -= draw_lost(left, *loss_of(c, links[i]), dice);
	return sent - left;
}

static void
send(struct flock_case *c, struct seen_flow *f, struct dice *dice)
{
	f->sent = c->options.packets;
	f->traced = true;
	f->forward = draw_path(c, f->out, f->out_count, f->sent, dice);
	f->reverse = draw_path(c, f->back, f->back_count, f->sent - f->forward, dice);
	c->flows[c->flow_count++] = *f;
}

/* Builds a flow that bounces off a core: the first half of a path through the core to
 * another pod, and the same half back. */
static void
bounce(struct flock_case *c, struct dice *dice)
{
	const uint32_t first = clos_first(c->clos, CLOS_CORE);
	const uint32_t cores =
	    clos_switches(c->clos) + clos_first(c->clos, CLOS_TOR) - first;
	const uint32_t half = c->options.k / 2;

	for (uint32_t host = 0; host < clos_rnics(c->clos); host++) {
		const uint32_t tor = clos_part(c->clos, host)->to;
		const uint32_t *up, *on;
		const uint32_t ups = clos_leaving(c->clos, tor, &up);

		for (uint32_t core = 0; core < cores; core++) {
			struct seen_flow f = { .src = host,
				.dst = host,
				.out_count = 3,
				.back_count = 3 };
			/* The cables of a ToR are first those of its RNICs, then those
			 * to each middle switch. */
			const uint32_t link = up[ups - half + core / half];
			uint32_t ons =
			    clos_leaving(c->clos, clos_part(c->clos, link)->to, &on);

			f.out[0] = clos_first(c->clos, CLOS_LINK) + 2 * host;
			f.out[1] = link;
			f.out[2] = on[ons - half + core % half];
			for (int i = 0; i < 3; i++)
				f.back[i] = clos_part(c->clos, f.out[2 - i])->twin;
			send(c, &f, dice);
		}
	}
}

static uint32_t
draw_end(const struct flock_case *c, struct dice *dice)
{
	const uint32_t racks =
	    clos_first(c->clos, CLOS_MIDDLE) - clos_first(c->clos, CLOS_TOR);
	const uint32_t busy = (uint32_t)ceil(BUSY_RACKS * racks);
	const uint32_t *rnics;
	uint32_t rack, count;

	if (c->options.probes != FLOCK_SKEWED)
		return (uint32_t)dice_below(dice, clos_rnics(c->clos));
	/* The busy racks are not neighbours. */
	if (dice_share(dice) < BUSY_SHARE)
		rack = (uint32_t)dice_below(dice, busy) * (racks / busy);
	else
		do
			rack = (uint32_t)dice_below(dice, racks);
		while (rack % (racks / busy) == 0 && rack / (racks / busy) < busy);
	count = clos_rack(c->clos, clos_first(c->clos, CLOS_TOR) + rack, &rnics);
	return rnics[dice_below(dice, count)];
}

static void
probe_each_other(struct flock_case *c, struct dice *dice)
{
	const size_t flows = (size_t)c->options.flows * clos_rnics(c->clos);

	while (c->flow_count < flows) {
		struct seen_flow f = { .src = draw_end(c, dice),
			.dst = draw_end(c, dice) };

		if (clos_part(c->clos, f.src)->to == clos_part(c->clos, f.dst)->to)
			continue; /* only flows between racks are simulated */
		f.port = (uint16_t)dice_next(dice);
		f.out_count =
		    (uint8_t)clos_route(c->clos, f.src, f.dst, dice_next(dice), f.out);
		f.back_count =
		    (uint8_t)clos_route(c->clos, f.dst, f.src, dice_next(dice), f.back);
		send(c, &f, dice);
	}
}

static int
allocate(struct flock_case *c)
{
	const struct flock_options *o = &c->options;
	const size_t flows = o->probes == FLOCK_BOUNCED ? o->k * o->k / 4 : o->flows;
	int r;

	r = clos_new(&(struct clos_options){ .tiers = 3,
			 .pods = o->k,
			 .racks = o->k * o->k / 2,
			 .middle = o->k / 2,
			 .cores = o->k * o->k / 4,
			 .rnics_per_rack = o->k / 2 },
	    &c->clos);
	if (r < 0)
		return r;
	c->loss = calloc(clos_links(c->clos), sizeof *c->loss);
	c->truths = calloc(o->faults + 1, sizeof *c->truths);
	c->flows = calloc(flows * clos_rnics(c->clos), sizeof *c->flows);
	return c->loss != NULL && c->truths != NULL && c->flows != NULL ? 0 : -ENOMEM;
}

int
flock_case_new(const struct flock_options *options, struct flock_case **ret)
{
	struct dice dice = dice_of(options->seed, 1);
	struct flock_case *c = calloc(1, sizeof *c);
	int r;

	if (c == NULL)
		return -ENOMEM;
	c->options = *options;
	r = allocate(c);
	if (r < 0) {
		flock_case_free(c);
		return r;
	}
	for (uint32_t i = 0; i < clos_links(c->clos); i++)
		c->loss[i] = GOOD_LOSS * dice_share(&dice);
	if (options->faults > 0)
		fail_links(c, &dice);
	else
		fail_switch(c, &dice);
	if (options->probes == FLOCK_BOUNCED)
		bounce(c, &dice);
	else
		probe_each_other(c, &dice);
	*ret = c;
	return 0;
}

void
flock_case_free(struct flock_case *c)
{
	if (c == NULL)
		return;
	clos_free(c->clos);
	free(c->loss);
	free(c->truths);
	free(c->flows);
	free(c);
}

const struct clos *
flock_case_clos(const struct flock_case *c)
{
	return c->clos;
}

double
flock_case_packets(const struct flock_case *c)
{
	const uint32_t between = clos_links(c->clos) - 2 * clos_rnics(c->clos);
	uint64_t sum = 0;

	for (size_t i = 0; i < c->flow_count; i++) {
		const struct seen_flow *f = &c->flows[i];
		const uint32_t ends = c->options.probes == FLOCK_BOUNCED ? 1 : 2;

		sum += (uint64_t)f->sent * (f->out_count - ends + f->back_count - ends);
	}
	return (double)sum / between;
}

int
flock_case_judge(const struct flock_case *c, const struct scheme_type *type,
    const double *values, struct score *score)
{
	const struct seen seen = { SECONDS * INT64_C(1000000000), c->flows,
		c->flow_count };
	const struct scheme_named *named;
	struct scheme *scheme;
	int r;

	r = type->new (c->clos, values, &scheme);
	if (r < 0)
		return r;
	r = score_begin(score, c->clos, c->truths, c->truth_count);
	if (r == 0)
		r = type->report(scheme, &seen);
	if (r == 0)
		r = type->judge(scheme, &named);
	if (r >= 0)
		r = score_report(score, seen.end_ns, named, (size_t)r);
	if (r == 0)
		r = score_end(score, seen.end_ns);
	type->free(scheme);
	return r;
}

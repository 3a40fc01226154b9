#include "tests/sim/noise.h"

#include <math.h>
#include <stddef.h>

#define COUNTED_FROM_S (NOISE_STRETCH_S - NOISE_COUNTED_S)
#define DAY_S 86400.0

/* The possible increases of loss, equally likely: share, duration, any first second. */
static const double losses[] = { 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5 };
static const uint32_t lengths_s[] = { 1, 5, 20, 60, 120 };

#define LOSSES (sizeof losses / sizeof losses[0])
#define LENGTHS (sizeof lengths_s / sizeof lengths_s[0])

static uint32_t
end_of(uint32_t start_s, uint32_t length_s)
{
	const uint32_t end_s = start_s + length_s;

	return end_s < NOISE_STRETCH_S ? end_s : NOISE_STRETCH_S;
}

static struct noise_worse
draw(const struct noise_subject *subject, double plainly, struct dice *dice)
{
	struct noise_worse worse = { .place =
					 (uint32_t)dice_below(dice, subject->places),
		.from_s = (uint32_t)dice_below(dice, NOISE_STRETCH_S) };

	worse.to_s = end_of(worse.from_s, lengths_s[dice_below(dice, LENGTHS)]);
	worse.loss = losses[dice_below(dice, LOSSES)];
	if (dice_share(dice) < plainly)
		worse.loss = 0;
	return worse;
}

/* Returns the likelihood ratio of the observed losses, summed over all increases of
 * loss. */
static double
likelier(const struct noise_subject *subject, double usual, uint32_t place,
    uint32_t from_s, uint32_t to_s)
{
	uint64_t tried, lost;
	double sum = 0;

	subject->met(subject->arg, place, from_s, to_s, &tried, &lost);
	for (size_t i = 0; i < LOSSES; i++)
		sum +=
		    exp((double)lost * log(losses[i] / usual) +
			(double)(tried - lost) * (log1p(-losses[i]) - log1p(-usual)));
	return sum;
}

/* Returns the weight of the last stretch: its likelihood with noise alone, divided by
 * its likelihood with the mixture of all possible increases. */
static double
weight_of(const struct noise_subject *subject, const struct noise_options *options)
{
	const double paths =
	    (double)subject->places * NOISE_STRETCH_S * LENGTHS * LOSSES;
	double sum = 0;

	for (uint32_t place = 0; place < subject->places; place++)
		for (uint32_t start_s = 0; start_s < NOISE_STRETCH_S; start_s++)
			for (size_t i = 0; i < LENGTHS; i++)
				sum += likelier(subject, options->loss, place, start_s,
				    end_of(start_s, lengths_s[i]));
	return 1 / (options->plainly + (1 - options->plainly) * sum / paths);
}

struct sums {
	double weights, openings, squares, largest;
};

static void
add(struct sums *sums, double weight, int openings)
{
	const double x = weight * openings;

	sums->weights += weight;
	sums->openings += x;
	sums->squares += x * x;
	if (x > sums->largest)
		sums->largest = x;
}

static void
report(const struct sums *sums, uint32_t stretches, double racks,
    struct noise_found *found)
{
	const double n = stretches, per_day = DAY_S / NOISE_COUNTED_S / racks;
	const double mean = sums->openings / n;
	const double variance = sums->squares / n - mean * mean;

	found->rate = mean * per_day;
	found->error = sqrt(variance > 0 ? variance / n : 0) * per_day;
	found->largest = sums->openings > 0 ? sums->largest / sums->openings : 0;
	found->mean_weight = sums->weights / n;
}

int
noise_estimate(const struct noise_subject *subject, const struct noise_options *options,
    struct noise_found *ret)
{
	struct noise_found found = { 0 };
	struct sums sums = { 0 };

	for (uint32_t i = 0; i < options->stretches; i++) {
		struct dice dice = dice_of(options->seed, i);
		const struct noise_worse worse = draw(subject, options->plainly, &dice);
		const int n = subject->run(subject->arg, &worse, COUNTED_FROM_S, &dice);

		if (n < 0)
			return n;
		found.named += (uint64_t)n;
		add(&sums, weight_of(subject, options), n);
	}
	report(&sums, options->stretches, subject->racks, &found);
	*ret = found;
	return 0;
}

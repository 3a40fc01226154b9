/*
 * Encoding: version | zeros | max | runs to the end, each: number of empty bins before
 * it | number of bins | count of every bin. All numbers are varints (LEB128, least
 * significant byte first, no longer than needed). A run is as long as possible and
 * contains no empty bin, so that each content has exactly one encoding. max is 0 if
 * there is no value above 0.
 */
#include "rackmesh/metrics/sketch.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SKETCH_BINS 1388
#define SKETCH_MAX_VALUE (UINT64_C(1) << 40)
#define SKETCH_VERSION 1
/* With this limit no encoding is larger than RM_SKETCH_MAX_BYTES: at most 512 bins can
 * need more than 5 bytes, so 1388 * 5 + 512 and a few more are enough. */
#define SKETCH_MAX_COUNT (UINT64_C(1) << 44)

/* Exponent and leading bits of the mantissa give a first guess of a value's bin. A
 * guess covers 0.8 %, which is less than a bin (2 %). */
#define SKETCH_MANTISSA_BITS 7
#define SKETCH_GUESSES (41 << SKETCH_MANTISSA_BITS)

struct rm_sketch {
	uint64_t bins[SKETCH_BINS];
	uint64_t zeros;
	uint64_t count; /* the zeros included */
	uint64_t max;
	/* all bins outside of low to high are empty; low > high: all bins are */
	unsigned low, high;
};

/* Computed once, so that adding a value needs no logarithm. */
static struct {
	uint64_t upper[SKETCH_BINS]; /* largest integer in the bin: floor(gamma^i) */
	uint64_t value[SKETCH_BINS]; /* the value that stands for the bin */
	uint16_t guess[SKETCH_GUESSES];
} sketch_tables;

static unsigned
sketch_guess_at(uint64_t value)
{
	unsigned exponent = 63u - (unsigned)__builtin_clzll(value);
	uint64_t aligned = value << (63u - exponent);

	return exponent << SKETCH_MANTISSA_BITS |
	       ((aligned >> (63 - SKETCH_MANTISSA_BITS)) &
		   ((1u << SKETCH_MANTISSA_BITS) - 1));
}

static void
sketch_fill_tables(void)
{
	const double a = RM_SKETCH_RELATIVE_ERROR;
	const double gamma = (1 + a) / (1 - a);
	unsigned bin = 0;

	for (unsigned i = 0; i < SKETCH_BINS; i++) {
		double upper = pow(gamma, i);

		sketch_tables.upper[i] = (uint64_t)upper;
		sketch_tables.value[i] = (uint64_t)(2 * upper / (gamma + 1) + 0.5);
	}
	for (unsigned i = 0; i < SKETCH_GUESSES; i++) {
		unsigned exponent = i >> SKETCH_MANTISSA_BITS;
		uint64_t mantissa = i & ((1u << SKETCH_MANTISSA_BITS) - 1);
		/* Least value with this guess; below 2^7 some guesses have no value. */
		uint64_t least = (UINT64_C(1) << exponent) +
				 ((mantissa << exponent) >> SKETCH_MANTISSA_BITS);

		while (bin < SKETCH_BINS - 1 && sketch_tables.upper[bin] < least)
			bin++;
		sketch_tables.guess[i] = (uint16_t)bin;
	}
}

/* value: 1 .. SKETCH_MAX_VALUE. */
static unsigned
sketch_bin(uint64_t value)
{
	unsigned bin = sketch_tables.guess[sketch_guess_at(value)];

	while (sketch_tables.upper[bin] < value)
		bin++;
	return bin;
}

struct rm_sketch *
rm_sketch_new(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct rm_sketch *sketch = calloc(1, sizeof(*sketch));

	pthread_once(&once, sketch_fill_tables);
	if (sketch != NULL)
		rm_sketch_reset(sketch);
	return sketch;
}

void
rm_sketch_free(struct rm_sketch *sketch)
{
	free(sketch);
}

void
rm_sketch_reset(struct rm_sketch *sketch)
{
	for (unsigned i = sketch->low; i <= sketch->high; i++)
		sketch->bins[i] = 0;
	sketch->zeros = 0;
	sketch->count = 0;
	sketch->max = 0;
	sketch->low = SKETCH_BINS;
	sketch->high = 0;
}

static void
sketch_add_bin(struct rm_sketch *sketch, unsigned bin, uint64_t count)
{
	sketch->bins[bin] += count;
	sketch->count += count;
	if (bin < sketch->low)
		sketch->low = bin;
	if (bin > sketch->high)
		sketch->high = bin;
}

void
rm_sketch_add(struct rm_sketch *sketch, uint64_t value_ns)
{
	if (value_ns == 0) {
		sketch->zeros++;
		sketch->count++;
		return;
	}
	if (value_ns > SKETCH_MAX_VALUE)
		value_ns = SKETCH_MAX_VALUE;
	if (value_ns > sketch->max)
		sketch->max = value_ns;
	sketch_add_bin(sketch, sketch_bin(value_ns), 1);
}

void
rm_sketch_merge(struct rm_sketch *into, const struct rm_sketch *from)
{
	for (unsigned i = from->low; i <= from->high; i++)
		if (from->bins[i] > 0)
			sketch_add_bin(into, i, from->bins[i]);
	into->zeros += from->zeros;
	into->count += from->zeros;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t
rm_sketch_count(const struct rm_sketch *sketch)
{
	return sketch->count;
}

uint64_t
rm_sketch_max_ns(const struct rm_sketch *sketch)
{
	return sketch->max;
}

uint64_t
rm_sketch_quantile_ns(const struct rm_sketch *sketch, double q)
{
	/* 0.07 * 100, computed with doubles, is a little more than 7: the factor makes
	 * its rank 7, not 8. */
	double rank = ceil(q * (double)sketch->count * (1 - 1e-12));
	uint64_t below = sketch->zeros;

	if (rank >= (double)sketch->count)
		return sketch->max;
	if (!(rank > (double)below))
		return 0;
	for (unsigned i = sketch->low; i <= sketch->high; i++) {
		below += sketch->bins[i];
		if (rank <= (double)below)
			return sketch_tables.value[i] < sketch->max
				   ? sketch_tables.value[i]
				   : sketch->max;
	}
	return sketch->max;
}

struct sketch_writer {
	uint8_t *out;
	size_t room;
	size_t at; /* counts further bytes when there is no room left */
};

static void
sketch_put(struct sketch_writer *writer, uint64_t number)
{
	do {
		uint8_t byte = number & 0x7f;

		number >>= 7;
		if (number > 0)
			byte |= 0x80;
		if (writer->at < writer->room)
			writer->out[writer->at] = byte;
		writer->at++;
	} while (number > 0);
}

int
rm_sketch_encode(const struct rm_sketch *sketch, uint8_t *out, size_t out_len)
{
	struct sketch_writer writer = { .out = out, .room = out_len };
	unsigned written = 0; /* all bins below this one are written */

	if (sketch->count > SKETCH_MAX_COUNT)
		return -ENOSPC;
	sketch_put(&writer, SKETCH_VERSION);
	sketch_put(&writer, sketch->zeros);
	sketch_put(&writer, sketch->max);
	for (unsigned i = sketch->low; i <= sketch->high; i++) {
		unsigned end = i;

		while (end <= sketch->high && sketch->bins[end] > 0)
			end++;
		if (end == i)
			continue;
		sketch_put(&writer, i - written);
		sketch_put(&writer, end - i);
		for (; i < end; i++)
			sketch_put(&writer, sketch->bins[i]);
		written = end;
	}
	return writer.at > out_len ? -ENOSPC : (int)writer.at;
}

struct sketch_reader {
	const uint8_t *data;
	size_t len;
	size_t at;
};

/* No number in an encoding is larger than SKETCH_MAX_COUNT, so 7 bytes are enough. */
static int
sketch_take(struct sketch_reader *reader, uint64_t *ret)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 7 * 7; shift += 7) {
		uint8_t byte;

		if (reader->at == reader->len)
			return -EBADMSG;
		byte = reader->data[reader->at++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte == 0 && shift > 0) || number > SKETCH_MAX_COUNT)
			return -EBADMSG;
		*ret = number;
		return 0;
	}
	return -EBADMSG;
}

static int
sketch_take_run(struct sketch_reader *reader, struct rm_sketch *sketch, unsigned *next)
{
	uint64_t gap, bins, count;
	bool first = sketch->low > sketch->high;
	int r;

	r = sketch_take(reader, &gap);
	if (r < 0)
		return r;
	r = sketch_take(reader, &bins);
	if (r < 0)
		return r;
	if ((gap == 0 && !first) || bins == 0 || gap > SKETCH_BINS ||
	    bins > SKETCH_BINS || *next + gap + bins > SKETCH_BINS)
		return -EBADMSG;
	*next += (unsigned)gap;
	for (; bins > 0; bins--) {
		r = sketch_take(reader, &count);
		if (r < 0)
			return r;
		if (count == 0 || count > SKETCH_MAX_COUNT - sketch->count)
			return -EBADMSG;
		sketch_add_bin(sketch, (*next)++, count);
	}
	return 0;
}

static int
sketch_take_all(struct sketch_reader *reader, struct rm_sketch *sketch)
{
	uint64_t version, max;
	unsigned next = 0;
	int r;

	r = sketch_take(reader, &version);
	if (r < 0)
		return r;
	if (version != SKETCH_VERSION)
		return -EBADMSG;
	r = sketch_take(reader, &sketch->zeros);
	if (r < 0)
		return r;
	sketch->count = sketch->zeros;
	r = sketch_take(reader, &max);
	if (r < 0)
		return r;
	while (reader->at < reader->len) {
		r = sketch_take_run(reader, sketch, &next);
		if (r < 0)
			return r;
	}

	/* The largest value must be in the last bin that is not empty. */
	if (next == 0
		? max != 0
		: max == 0 || max > SKETCH_MAX_VALUE || sketch_bin(max) != sketch->high)
		return -EBADMSG;
	sketch->max = max;
	return 0;
}

int
rm_sketch_decode(struct rm_sketch *sketch, const uint8_t *data, size_t len)
{
	struct sketch_reader reader = { .data = data, .len = len };
	int r;

	rm_sketch_reset(sketch);
	r = sketch_take_all(&reader, sketch);
	if (r < 0)
		rm_sketch_reset(sketch);
	return r;
}

/*
 * crash_damage - starts a spool with one wrong bit, or with one file cut short.
 *
 *     crash_damage [--bytes N]
 *
 * For every bit of a spool of N bytes, and for every length of each of its files, the
 * spool must start, deliver every record unaltered except the damaged one (or, for a
 * damaged header, those of its file), report exactly how much it has lost, and continue
 * to work.
 *
 * Damage of one file does not affect others, so each is tried alone, together with
 * `done`.
 */
#include <endian.h>
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"
#include "tests/crash/choices.h"
#include "tests/crash/image.h"
#include "tests/crash/life.h"
#include "tests/support/trials.h"

#define SEGMENT_BYTES 4096
#define HEADER_BYTES 32
#define HEAD_BYTES 16
#define ONE_WORKS_IN 16
#define MAX_BYTES (2u << 20)
#define MAX_FILES 240 /* bytes of one spool; larger N are several spools */

struct damage {
	struct rm_loop *loop;
	char root[64], folder[80];
	/* oracle: for all files; part: for the file in test */
	struct oracle oracle, part;
	struct trace trace; /* stays empty */
	struct life_faults faults;
	struct image whole, image;
	uint64_t bits, cuts, wrong;
	int64_t slowest_ns;
	uint64_t random;
};

struct expected {
	uint64_t found, parts, bytes;
};

static void
life_make(struct damage *damage, struct oracle *oracle, struct life *ret)
{
	*ret = (struct life){ .loop = damage->loop,
		.oracle = oracle,
		.trace = &damage->trace,
		.faults = &damage->faults,
		.options = { .folder = damage->folder,
		    .max_bytes = 4 * MAX_BYTES,
		    .segment_bytes = SEGMENT_BYTES,
		    .identity = 0x5eed } };
}

static void
make_spool(struct damage *damage, uint64_t bytes)
{
	uint64_t at = 0;
	struct life life;

	life_make(damage, &damage->oracle, &life);
	if (life_start(&life) < 0)
		errx(2, "cannot make a spool");
	while (at < bytes) {
		size_t len = ORACLE_MIN_BYTES + choices_random(&damage->random) % 700;

		life_append(&life, len);
		life_turn(&life);
		at += HEAD_BYTES + len;
	}
	life_stop(&life);
	image_read(&damage->whole, damage->folder);
	image_remove(damage->folder);
}

static uint32_t
length_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

/* The records of this file, and which of them may be lost: the one at hit, or all if
 * the header is hit. */
static struct expected
expect(struct damage *damage, const struct image_file *file, size_t hit)
{
	struct expected ret = { 0 };
	size_t at = HEADER_BYTES;

	damage->part.count = 0;
	damage->part.next_id = damage->oracle.next_id;
	while (at < file->len) {
		size_t end = at + HEAD_BYTES + length_at(file->data + at);
		struct oracle_record record;
		uint32_t id;
		bool lost = hit < HEADER_BYTES || (hit >= at && hit < end);

		memcpy(&id, file->data + at + HEAD_BYTES, sizeof(id));
		record = *oracle_find(&damage->oracle, id);
		record.excused = lost ? 0 : ORACLE_NEVER;
		oracle_copy_one(&damage->part, &record);
		ret.found += !lost;
		ret.bytes += lost && hit >= HEADER_BYTES ? end - at : 0;
		at = end;
	}
	if (hit < HEADER_BYTES)
		ret.bytes = file->len;
	ret.parts = 1;
	return ret;
}

static void
try_image(struct damage *damage, const struct expected *expected, const char *what,
    size_t where)
{
	struct life life;

	life_make(damage, &damage->part, &life);
	image_write(&damage->image, damage->folder);
	if (life_start(&life) == 0) {
		const struct rm_spool_counts *counts = rm_spool_counts(life.spool);

		if (counts->found != expected->found ||
		    counts->quarantined != expected->parts ||
		    counts->lost_corrupt_bytes != expected->bytes) {
			damage->wrong++;
			printf("%s %zu: %llu records, %llu parts, %llu bytes lost; "
			       "expected %llu, %llu, %llu\n",
			    what, where, (unsigned long long)counts->found,
			    (unsigned long long)counts->quarantined,
			    (unsigned long long)counts->lost_corrupt_bytes,
			    (unsigned long long)expected->found,
			    (unsigned long long)expected->parts,
			    (unsigned long long)expected->bytes);
		}
		if (where % ONE_WORKS_IN == 0)
			life_works(&life);
		life_stop(&life);
	}
	if (life.slowest_ns > damage->slowest_ns)
		damage->slowest_ns = life.slowest_ns;
	image_remove(damage->folder);
}

/* The image contains the file and `done`, which is file 0. */
static struct image_file *
alone(struct damage *damage, size_t file, size_t done)
{
	struct image *image = &damage->image;
	size_t both[2] = { done, file };

	image->folder = true;
	image->count = file == done ? 1 : 2;
	for (size_t i = 0; i < image->count; i++) {
		const struct image_file *from = &damage->whole.files[both[i]];

		memcpy(image->files[i].name, from->name, TRACE_NAME);
		image->files[i].len = from->len;
		image_reserve(image, i, from->len);
		memcpy(image->files[i].data, from->data, from->len);
	}
	return &image->files[image->count - 1];
}

static void
flip_all(struct damage *damage, size_t index, size_t done)
{
	const struct image_file *whole = &damage->whole.files[index];
	struct image_file *file = alone(damage, index, done);

	for (size_t bit = 0; bit < whole->len * 8; bit++) {
		struct expected expected = { 0, 1, whole->len };

		if (index != done)
			expected = expect(damage, whole, bit / 8);
		else
			damage->part.count = 0;
		file->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		try_image(damage, &expected, "bit", bit);
		file->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		damage->bits++;
	}
}

static void
cut_all(struct damage *damage, size_t index, size_t done)
{
	const struct image_file *whole = &damage->whole.files[index];
	struct image_file *file = alone(damage, index, done);

	for (size_t len = 0; len < whole->len; len++) {
		struct expected expected = expect(damage, whole, SIZE_MAX);
		size_t at = HEADER_BYTES;

		expected = (struct expected){ 0 };
		for (size_t i = 0; i < damage->part.count; i++) {
			struct oracle_record *record = &damage->part.records[i];

			at += HEAD_BYTES + record->len;
			if (at <= len)
				expected.found++;
			else
				record->excused = 0;
		}
		file->len = len;
		try_image(damage, &expected, "cut at", len);
		damage->cuts++;
	}
}

static void
run(struct damage *damage, uint64_t bytes)
{
	size_t done = 0;

	make_spool(damage, bytes);
	while (strcmp(damage->whole.files[done].name, "done") != 0)
		done++;
	for (size_t i = 0; i < damage->whole.count; i++) {
		flip_all(damage, i, done);
		if (i != done)
			cut_all(damage, i, done);
	}
	oracle_clear(&damage->oracle);
	oracle_clear(&damage->part);
}

int
main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "bytes", required_argument, NULL, 'b' }, { 0 }
	};
	static struct damage damage;
	uint64_t bytes = trials_of(8192), most = MAX_FILES * SEGMENT_BYTES / 2;
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (letter != 'b')
			errx(2, "crash_damage [--bytes N]");
		bytes = strtoull(optarg, NULL, 10);
	}
	strcpy(damage.root, "/dev/shm/rackmesh-damage.XXXXXX");
	if (mkdtemp(damage.root) == NULL || rm_loop_new(&damage.loop) < 0)
		err(2, "%s", damage.root);
	snprintf(damage.folder, sizeof(damage.folder), "%s/spool", damage.root);
	for (uint64_t at = 0; at < bytes; at += most)
		run(&damage, bytes - at < most ? bytes - at : most);
	printf("%llu bits flipped, %llu files cut: wrong counts %llu, lost %llu, "
	       "invented or altered %llu, refused to start %llu, stuck %llu; slowest "
	       "start %.1f ms %s\n",
	    (unsigned long long)damage.bits, (unsigned long long)damage.cuts,
	    (unsigned long long)damage.wrong, (unsigned long long)damage.faults.lost,
	    (unsigned long long)(damage.faults.invented + damage.faults.altered),
	    (unsigned long long)damage.faults.refused,
	    (unsigned long long)(damage.faults.stuck + damage.faults.numbers),
	    (double)damage.slowest_ns / 1e6, damage.faults.first);
	damage.wrong += life_fault_count(&damage.faults) - damage.faults.slow;
	rm_loop_free(damage.loop);
	image_clear(&damage.whole);
	image_clear(&damage.image);
	image_remove(damage.root);
	return damage.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

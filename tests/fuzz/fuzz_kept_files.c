/*
 * The files in which an agent keeps its brake, and an agent or aggregator its keys. A
 * written file reads back unchanged; a file that is damaged, is of another kind or can
 * be read by other users is refused, and no part of it is used.
 *
 * Input: the kind, the case, then the bytes of the file or of the values to save.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host-agent/pinglist/brake.h"
#include "host-agent/pinglist/brake_file.h"
#include "rackmesh/core/crc32c.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define HEAD_BYTES 16 /* header of a key file */

struct run {
	struct fuzz_bytes bytes;
	char folder[FUZZ_FOLDER_BYTES];
	struct rm_worker *worker;
};

/* ---- the brake ------------------------------------------------------------------- */

static void
brake_as_sent(struct brake *brake, struct fuzz_bytes *bytes)
{
	while (bytes->left > 0) {
		size_t who = fuzz_below(bytes, BRAKE_MAX_AGGREGATORS + 1);
		struct wire_brake received = { .version = fuzz_number(bytes),
			.rate_permille = (uint32_t)fuzz_number(bytes) };
		struct wire_brake before = brake_now(brake);

		if (received.version == 7)
			brake_session(brake, who);
		brake_take(brake, who, &received);
		if (brake_now(brake).rate_permille > BRAKE_NONE ||
		    (who == BRAKE_MAX_AGGREGATORS &&
			brake_now(brake).version != before.version))
			abort();
	}
}

static void
brake_run(struct run *run, uint8_t how)
{
	static struct brake brake, back;
	struct wire_brake received = { .version = fuzz_number(&run->bytes),
		.rate_permille = (uint32_t)fuzz_number(&run->bytes) };
	struct brake_file *file = NULL;
	int r;

	memset(&brake, 0, sizeof(brake));
	memset(&back, 0, sizeof(back));
	failing_malloc_arm(how >> 4);
	r = brake_file_new(how & 1 ? "" : run->folder, run->worker, &file);
	if (r < 0) {
		if (failing_malloc_disarm())
			abort();
		return;
	}
	if (how & 2) {
		fuzz_folder_write(run->folder, "brake", run->bytes.at, run->bytes.left);
	} else {
		brake_file_save(file, &received);
		fake_world_turn();
		if (how & 4)
			fuzz_folder_damage(run->folder, "brake",
			    (size_t)fuzz_number(&run->bytes), fuzz_u8(&run->bytes));
	}
	r = brake_file_load(file, &back);
	(void)failing_malloc_disarm();
	if (r < 0 && memcmp(&back, &brake, sizeof(back)) != 0)
		abort();
	if (r == 0 && brake_now(&back).rate_permille > BRAKE_NONE)
		abort();
	if (r == 0 && !(how & 6) && received.version > 0 &&
	    (brake_now(&back).version != received.version ||
		brake_now(&back).rate_permille != received.rate_permille))
		abort();
	if (how == 0 && received.rate_permille <= BRAKE_NONE &&
	    (r < 0 || brake_file_counts(file)->saved != 1))
		abort();
	if (how == 8) { /* the folder does not exist */
		fuzz_folder_remove(run->folder);
		brake_file_save(file, &received);
		fake_world_turn();
		if (brake_file_counts(file)->save_failed != 1 ||
		    mkdir(run->folder, 0700))
			abort();
	}
	brake_as_sent(&back, &run->bytes);
	brake_file_free(file);
}

/* ---- the keys ---- */

/* Writes a valid header, since a fuzzer cannot guess a checksum. */
static void
key_file_make(struct run *run, uint8_t how)
{
	static const uint8_t magic[8] = { 'R', 'M', 'K', 'F', 0, 0, 0, 1 };
	uint32_t crc = rm_crc32c(0, run->bytes.at, run->bytes.left);
	uint8_t file[HEAD_BYTES + 4096] = { 0 };
	size_t len = run->bytes.left < 4096 ? run->bytes.left : 4096;

	memcpy(file, magic, sizeof(magic));
	for (int i = 0; i < 4; i++)
		file[8 + i] = (uint8_t)(crc >> (24 - 8 * i));
	if (len > 0)
		memcpy(file + HEAD_BYTES, run->bytes.at, len);
	if (how & 8)
		fuzz_folder_write(
		    run->folder, "keys-t", run->bytes.at, run->bytes.left);
	else
		fuzz_folder_write(run->folder, "keys-t", file, HEAD_BYTES + len);
	if (how & 0x10) {
		char path[64];

		snprintf(path, sizeof(path), "%s/keys-t", run->folder);
		if (chmod(path, 0640) < 0)
			abort();
	}
}

static void
key_run(struct run *run, uint8_t how)
{
	struct rm_key_files *files = NULL;
	const struct rm_key_file_counts *counts;
	uint8_t *file = NULL;
	const uint8_t *message;
	size_t len;
	int r;

	failing_malloc_arm(how >> 5);
	r = rm_key_files_new(how & 1 ? "" : run->folder, run->worker, &files);
	if (r < 0) {
		if (failing_malloc_disarm())
			abort();
		return;
	}
	counts = rm_key_files_counts(files);
	if (how & 2)
		key_file_make(run, how);
	else
		rm_key_files_save(files, "t", run->bytes.at, run->bytes.left);
	fake_world_turn();
	if (how & 4)
		fuzz_folder_damage(run->folder, "keys-t", how * 7u, how);
	r = rm_key_files_load(files, "t", &file, &message, &len);
	(void)failing_malloc_disarm();
	if (r == 0) {
		if (how & 1 || (how & 0x12) == 0x12 || len == 0 ||
		    len > run->bytes.left || memcmp(message, run->bytes.at, len) != 0 ||
		    (uintptr_t)message % 8 != 0 || counts->loaded != 1)
			abort();
	} else if (file != NULL ||
		   (!(how & 1) && r != -ENOENT && counts->damaged == 0) ||
		   (how == 0 && run->bytes.left > 0)) {
		abort();
	}
	free(file);
	rm_key_files_free(files);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct run run = { .bytes = { data, len } };
	uint8_t which = fuzz_u8(&run.bytes), how = fuzz_u8(&run.bytes);
	struct rm_loop *loop;

	fake_world_begin();
	fuzz_folder_make(run.folder);
	if (rm_loop_new(&loop) < 0 ||
	    rm_worker_new(loop, which & 2 ? 0 : 4, &run.worker))
		abort();
	if (which & 2)
		how |= 4; /* the worker accepts no job */
	if (which & 1)
		key_run(&run, how);
	else
		brake_run(&run, how);
	(void)failing_malloc_disarm();
	rm_worker_free(run.worker);
	rm_loop_free(loop);
	fuzz_folder_remove(run.folder);
	fake_world_end();
	return 0;
}

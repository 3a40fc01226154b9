/*
 * crash_spool - tests the states in which a crash may leave a spool, at every point of
 * its work.
 *
 *     crash_spool [--states N] [--seed N]
 *     crash_spool --broken
 *
 * A recorder (recorder.h) notes every call that a spool makes during a workload
 * (workload.h), while an oracle (oracle.h) notes what was promised.
 *
 * For every point of that trace the possible states of the disk after a crash there are
 * enumerated (disk.h): all of them if they are few, else a random choice by a seed. The
 * same is done for the starts after some of these crashes. On each state a spool is
 * started (search.h). It must start within a second of CPU time, contain every record
 * that was promised and not acknowledged, no record that was never appended, none
 * altered, all in order, and continue to work. The last line reports the number of
 * distinct states.
 *
 * --broken: the same for spools that are broken on purpose; each of them must be found.
 *
 * After the paper of Pillai et al. on ALICE, 2014.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/crash/image.h"
#include "tests/crash/recorder.h"
#include "tests/crash/search.h"
#include "tests/support/trials.h"

#define BROKEN_STATES 20000 /* states, in which each fault should be found */

static void
report(const struct search_counts *counts)
{
	const struct life_faults *faults = &counts->faults;
	const struct workload_counts *work = &counts->work;

	printf("%llu workloads: %llu records, %llu restarts, %llu of them by kill -9, "
	       "%llu calls failed, %llu of them fsync, %llu files damaged, "
	       "%llu records pushed out\n",
	    (unsigned long long)counts->workloads, (unsigned long long)work->appended,
	    (unsigned long long)work->restarts, (unsigned long long)work->kills,
	    (unsigned long long)work->calls_failed,
	    (unsigned long long)work->syncs_failed, (unsigned long long)work->damaged,
	    (unsigned long long)work->dropped);
	printf("%llu points, %llu of them exhausted; %llu starts, %llu states in "
	       "recoveries\n",
	    (unsigned long long)counts->points, (unsigned long long)counts->exhausted,
	    (unsigned long long)counts->tried, (unsigned long long)counts->in_recovery);
	printf(
	    "%llu distinct crash states: lost %llu, invented %llu, altered %llu, out "
	    "of order %llu, numbers used twice %llu, refused to start %llu, stuck "
	    "%llu, slower than 1 s %llu; slowest start %.1f ms\n",
	    (unsigned long long)counts->distinct, (unsigned long long)faults->lost,
	    (unsigned long long)faults->invented, (unsigned long long)faults->altered,
	    (unsigned long long)faults->disordered, (unsigned long long)faults->numbers,
	    (unsigned long long)faults->refused, (unsigned long long)faults->stuck,
	    (unsigned long long)faults->slow, (double)counts->slowest_ns / 1e6);
}

/* Returns whether each of them is found. */
static int
find_broken(const char *root)
{
	static const char *const names[BROKEN_COUNT] = {
		[BROKEN_NO_SYNC] = "a spool that promises before it has synced",
		[BROKEN_NO_FOLDER_SYNC] = "a spool that never syncs the folder",
		[BROKEN_NO_PARENT_SYNC] = "a spool that never syncs the parent folder",
		[BROKEN_SYNC_AGAIN] = "a spool that repeats a failed fsync",
		[BROKEN_NO_CHECKSUM] = "a spool without checksums",
	};
	const struct search_options options = { .states = BROKEN_STATES };
	int missed = 0;

	for (int i = BROKEN_NOT + 1; i < BROKEN_COUNT; i++) {
		struct search_counts counts;
		bool found;

		recorder_broken = (enum recorder_broken)i;
		search_run(root, &options, &counts);
		found = life_fault_count(&counts.faults) > 0;
		missed += !found;
		printf("%s: %s after %llu states%s%s\n", names[i],
		    found ? "found" : "NOT FOUND", (unsigned long long)counts.distinct,
		    found ? ": " : "", counts.faults.first);
	}
	return missed;
}

int
main(int argc, char **argv)
{
	static const struct option long_options[] = { { "states", required_argument,
							  NULL, 's' },
		{ "seed", required_argument, NULL, 'd' },
		{ "broken", no_argument, NULL, 'b' }, { 0 } };
	struct search_options options = { .states = trials_of(10000), .loud = true };
	char root[] = "/dev/shm/rackmesh-crash.XXXXXX";
	struct search_counts counts;
	bool broken = false;
	uint64_t bad;
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (letter == 's')
			options.states = strtoull(optarg, NULL, 10);
		else if (letter == 'd')
			options.first_seed = strtoull(optarg, NULL, 10);
		else if (letter == 'b')
			broken = true;
		else
			errx(2, "crash_spool [--states N] [--seed N] | --broken");
	}
	if (mkdtemp(root) == NULL)
		err(2, "%s", root);
	if (broken) {
		bad = (uint64_t)find_broken(root);
	} else {
		search_run(root, &options, &counts);
		report(&counts);
		bad = life_fault_count(&counts.faults);
	}
	image_remove(root);
	return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

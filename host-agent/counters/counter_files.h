/*
 * counter_files - files of sysfs that are opened once and read again and again.
 *
 * An open file does not keep its device: reading a file of a removed device fails.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_FILES_H
#define HOST_AGENT_COUNTERS_COUNTER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_MAX_FILES 192

/* The kernel reports 0 lanes for a virtual function, and 255 if the number is not
 * known: neither is a value, and no number above this limit is. */
#define COUNTER_MAX_LANES 32

#define COUNTER_FILE_BYTES 2048 /* at most so many bytes of a file are read */

struct counter_file {
	int fd;
	bool seldom; /* the file is read only by counter_files_read(all) */
	bool lanes;  /* the file has the lanes of a PCIe link: see COUNTER_MAX_LANES */
	bool there;  /* the last reading gave a value for the file */
	uint64_t value;
};

struct counter_files { /* all zeros: none */
	struct counter_file files[COUNTER_MAX_FILES];
	size_t count;
};

/* Opens a file for all later readings. Returns its index in files, or the error of
 * opening it; -ENFILE: COUNTER_MAX_FILES are open. */
int counter_files_open(struct counter_files *files, const char *path);
/* Reads all files, or only those that are not seldom. False: a device was removed:
 * close and open all files again. */
bool counter_files_read(struct counter_files *files, bool all);
void counter_files_close(struct counter_files *files);

#endif

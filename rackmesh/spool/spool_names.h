/*
 * spool_names - which files a spool's folder holds.
 */
#ifndef RACKMESH_SPOOL_SPOOL_NAMES_H
#define RACKMESH_SPOOL_SPOOL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_CORRUPT ".corrupt" /* the end of the name of what was set aside */

struct spool_names { /* of segments, in order */
	uint64_t *first_seqs;
	size_t count, capacity;
};

/* Removes unfinished files; adds to aside how many bytes were set aside before. ret is
 * to be cleared, also after an error. */
int spool_names_list(const char *folder, struct spool_names *ret, uint64_t *aside);
void spool_names_clear(struct spool_names *names);

#endif

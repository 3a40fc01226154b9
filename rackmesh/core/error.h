/*
 * error - a sentence by which a failed call explains its error.
 *
 * A library never logs. If an errno is not precise enough (a config error must name
 * file, line and option), the library fills a struct rm_error, and the caller decides
 * whether to log it.
 */
#ifndef RACKMESH_CORE_ERROR_H
#define RACKMESH_CORE_ERROR_H

struct rm_error {
	char text[512]; /* always terminated; cut with "..." when too long */
};

/* Writes the sentence and returns r: `return rm_error_set(error, -EINVAL, ...)`. error
 * may be NULL. */
int rm_error_set(struct rm_error *error, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/*
 * error - the sentence that a failed call gives its caller.
 *
 * A library never logs. Where an errno says too little (a config error must name file,
 * line and option), the library fills one of these, and the caller logs it or not.
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

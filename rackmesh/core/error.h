/*
 * error - the human sentence out of a failing call.
 *
 * A library never logs; where an errno is too little (a config error must name
 * file, line and option) it fills one of these, and the caller decides.
 */
#ifndef RACKMESH_CORE_ERROR_H
#define RACKMESH_CORE_ERROR_H

struct rm_error {
	char text[512]; /* always terminated; cut with "..." when too long */
};

/* Writes the sentence and returns r, so that `return rm_why(why, -EINVAL, ...)`
 * reads well. error may be NULL. */
int rm_error_set(struct rm_error *error, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

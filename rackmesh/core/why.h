/*
 * why - the human sentence out of a failing call.
 *
 * A library never logs; where an errno is too little (a config error must name
 * file, line and option) it fills one of these, and the caller decides.
 */
#ifndef RACKMESH_CORE_WHY_H
#define RACKMESH_CORE_WHY_H

struct rm_why {
	char text[512]; /* always terminated; cut with "..." when too long */
};

/* Writes the sentence and returns r, so that `return rm_why(why, -EINVAL, ...)`
 * reads well. why may be NULL. */
int rm_why(struct rm_why *why, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

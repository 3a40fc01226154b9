/*
 * line_splitter - splits a stream into lines. Lines and pieces may have any size. Pure;
 * private to the etcd client.
 */
#ifndef RACKMESH_ETCD_LINE_SPLITTER_H
#define RACKMESH_ETCD_LINE_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

#define RM_ETCD_MAX_LINE (64u << 20)

struct rm_line_splitter { /* all zeros: nothing was fed yet */
	char *text;       /* the line that is incomplete so far; not terminated */
	size_t len, size;
};

/* Calls on_line for every complete line that is not empty, without its line break.
 * on_line returns false if it has freed the splitter or wants to stop. -ENOBUFS: a line
 * is longer than the limit, or there is no memory for it. */
int rm_line_splitter_feed(struct rm_line_splitter *splitter, const char *data,
    size_t len, bool (*on_line)(const char *text, size_t len, void *arg), void *arg);
void rm_line_splitter_clear(struct rm_line_splitter *splitter);

#endif

/*
 * line_splitter - splits a stream into lines. Lines and pieces may have any size. Pure;
 * private to the etcd client.
 */
#ifndef RACKMESH_ETCD_LINE_SPLITTER_H
#define RACKMESH_ETCD_LINE_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

#define RM_ETCD_MAX_LINE (64u << 20)

struct rm_line_splitter { /* all zeros: nothing has come yet */
	char *text;       /* of the line that is coming in; not terminated */
	size_t len, size;
};

/* on_line gets every whole line that is not empty, without its line break; it returns
 * false to stop, as the splitter may have been freed. -ENOBUFS: a line longer than the
 * bound, or no memory for it. */
int rm_line_splitter_feed(struct rm_line_splitter *splitter, const char *data,
    size_t len, bool (*on_line)(const char *text, size_t len, void *arg), void *arg);
void rm_line_splitter_clear(struct rm_line_splitter *splitter);

#endif

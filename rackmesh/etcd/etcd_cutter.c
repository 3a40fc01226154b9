#include "rackmesh/etcd/etcd_cutter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CUTTER_KEPT (64u << 10) /* a larger buffer is given back after its line */

static int
cutter_keep(struct rm_etcd_cutter *cutter, const char *data, size_t len)
{
	size_t size = cutter->size > 0 ? cutter->size : 4096;
	char *text;

	if (len > RM_ETCD_MAX_LINE - cutter->len)
		return -ENOBUFS;
	while (size < cutter->len + len)
		size *= 2;
	if (size > cutter->size) {
		text = realloc(cutter->text, size);
		if (text == NULL)
			return -ENOBUFS;
		cutter->text = text;
		cutter->size = size;
	}
	memcpy(cutter->text + cutter->len, data, len);
	cutter->len += len;
	return 0;
}

/* The line is taken out first: on_line may free the cutter. */
static bool
cutter_give(struct rm_etcd_cutter *cutter,
    bool (*on_line)(const char *text, size_t len, void *arg), void *arg)
{
	struct rm_etcd_cutter line = *cutter;
	bool here;

	*cutter = (struct rm_etcd_cutter){ 0 };
	here = on_line(line.text, line.len, arg);
	if (here && line.size <= CUTTER_KEPT) {
		*cutter = line;
		cutter->len = 0;
	} else {
		free(line.text);
	}
	return here;
}

int
rm_etcd_cutter_feed(struct rm_etcd_cutter *cutter, const char *data, size_t len,
    bool (*on_line)(const char *text, size_t len, void *arg), void *arg)
{
	const char *end;
	int r;

	while (len > 0 && (end = memchr(data, '\n', len)) != NULL) {
		size_t part = (size_t)(end - data);

		if (cutter->len > 0) {
			r = cutter_keep(cutter, data, part);
			if (r < 0)
				return r;
			if (!cutter_give(cutter, on_line, arg))
				return 0;
		} else if (part > 0 && !on_line(data, part, arg)) {
			return 0;
		}
		data = end + 1;
		len -= part + 1;
	}
	return len > 0 ? cutter_keep(cutter, data, len) : 0;
}

void
rm_etcd_cutter_clear(struct rm_etcd_cutter *cutter)
{
	free(cutter->text);
	*cutter = (struct rm_etcd_cutter){ 0 };
}

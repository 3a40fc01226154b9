#include "tests/crash/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
trace_clear(struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		free(trace->ops[i].data);
	free(trace->ops);
	*trace = (struct trace){ 0 };
}

void
trace_add(struct trace *trace, const struct trace_op *op)
{
	struct trace_op *to;

	if (trace->count == trace->capacity) {
		trace->capacity = trace->capacity == 0 ? 256 : trace->capacity * 2;
		trace->ops = realloc(trace->ops, trace->capacity * sizeof(*trace->ops));
		if (trace->ops == NULL)
			abort();
	}
	to = &trace->ops[trace->count++];
	*to = *op;
	to->data = NULL;
	if (op->len == 0)
		return;
	to->data = malloc(op->len);
	if (to->data == NULL)
		abort();
	memcpy(to->data, op->data, op->len);
}

void
trace_print(const struct trace *trace, size_t from, size_t to)
{
	static const char *const kinds[] = { "mkdir", "create", "rename", "link",
		"unlink", "write", "cut", "sync", "sync failed", "sync folder",
		"sync parent" };

	for (size_t i = from; i < to && i < trace->count; i++) {
		const struct trace_op *op = &trace->ops[i];

		printf("  %4zu %-11s inode %d at %llu len %zu %s %s\n", i,
		    kinds[op->kind], op->inode, (unsigned long long)op->at, op->len,
		    op->name, op->other);
	}
}

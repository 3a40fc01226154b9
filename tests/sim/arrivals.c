#include "tests/sim/arrivals.h"

#include <errno.h>
#include <stdlib.h>

static void
swap(struct arrival *a, struct arrival *b)
{
	const struct arrival c = *a;

	*a = *b;
	*b = c;
}

int
arrivals_put(struct arrivals *arrivals, const struct arrival *arrival)
{
	size_t at = arrivals->count;

	if (at == arrivals->room) {
		const size_t room = at == 0 ? 64 : 2 * at;
		struct arrival *heap =
		    realloc(arrivals->heap, room * sizeof(*arrivals->heap));

		if (heap == NULL)
			return -ENOMEM;
		arrivals->heap = heap;
		arrivals->room = room;
	}
	arrivals->heap[arrivals->count++] = *arrival;
	for (;
	     at > 0 && arrivals->heap[(at - 1) / 2].due_ns > arrivals->heap[at].due_ns;
	     at = (at - 1) / 2)
		swap(&arrivals->heap[(at - 1) / 2], &arrivals->heap[at]);
	return 0;
}

bool
arrivals_take(struct arrivals *arrivals, int64_t until_ns, struct arrival *ret)
{
	struct arrival *heap = arrivals->heap;

	if (arrivals->count == 0 || heap[0].due_ns > until_ns)
		return false;
	*ret = heap[0];
	heap[0] = heap[--arrivals->count];
	for (size_t at = 0;;) {
		size_t next = 2 * at + 1;

		if (next >= arrivals->count)
			return true;
		if (next + 1 < arrivals->count &&
		    heap[next + 1].due_ns < heap[next].due_ns)
			next++;
		if (heap[at].due_ns <= heap[next].due_ns)
			return true;
		swap(&heap[at], &heap[next]);
		at = next;
	}
}

void
arrivals_clear(struct arrivals *arrivals)
{
	free(arrivals->heap);
	*arrivals = (struct arrivals){ 0 };
}

#include "analyzer/finding/localise_losses.h"

#include <errno.h>
#include <stdlib.h>

int
localise_losses_grow(void *array, size_t *have, size_t need, size_t size)
{
	void **p = array;
	const size_t count = need + need / 2 + 64;
	void *bigger;

	if (need <= *have)
		return 0;
	bigger = realloc(*p, count * size);
	if (bigger == NULL)
		return -ENOMEM;
	*p = bigger;
	*have = count;
	return 0;
}

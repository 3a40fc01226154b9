#include "tor-aggregator/redis/redis_command.h"

#include <errno.h>
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

static void
wipe(const void *text, size_t len, void *arg)
{
	explicit_bzero((void *)text, len);
	free((void *)text);
}

int
redis_command(struct evbuffer *out, const char *const *arguments, size_t count)
{
	char *text = NULL;
	const int len =
	    redisFormatCommandArgv(&text, (int)count, (const char **)arguments, NULL);

	if (len < 0)
		return -ENOMEM;
	/* The buffer sends this memory itself, and makes no copy, which it would not
	 * wipe. */
	if (evbuffer_add_reference(out, text, (size_t)len, wipe, NULL) == 0)
		return 0;
	wipe(text, (size_t)len, NULL);
	return -ENOMEM;
}

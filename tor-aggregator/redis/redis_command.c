#include "tor-aggregator/redis/redis_command.h"

#include <errno.h>
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

int
redis_command(struct evbuffer *out, const char *const *arguments, size_t count)
{
	char *text = NULL;
	int r, len = redisFormatCommandArgv(
		   &text, (int)count, (const char **)arguments, NULL);

	if (len < 0)
		return -ENOMEM;
	r = evbuffer_add(out, text, (size_t)len) == 0 ? 0 : -ENOMEM;
	explicit_bzero(text, (size_t)len);
	free(text);
	return r;
}

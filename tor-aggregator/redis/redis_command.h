/*
 * redis_command - writes a command to a Redis server.
 */
#ifndef TOR_AGGREGATOR_REDIS_REDIS_COMMAND_H
#define TOR_AGGREGATOR_REDIS_REDIS_COMMAND_H

#include <stddef.h>

struct evbuffer; /* event2/buffer.h */

/* Appends the command with its arguments, which are texts, to out. One of them may be a
 * password: no copy of it stays in freed memory. -ENOMEM: nothing was appended. */
int redis_command(struct evbuffer *out, const char *const *arguments, size_t count);

#endif

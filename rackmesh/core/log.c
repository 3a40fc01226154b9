#include "rackmesh/core/log.h"

#include <event2/event.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/fnv.h"

#define LOG_TEXT 1024
#define LOG_LINE (LOG_TEXT + 256)

/* There is one log for the process, because the process has one stderr. */
static struct {
	pthread_mutex_t lock;
	const char *name;
	enum rm_log_level level;
	rm_log_sink *sink;
	void *sink_arg;
	struct rm_log_limit limit;
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER, .level = RM_LOG_INFO };

static void
log_on_libevent(int severity, const char *text)
{
	switch (severity) {
	case EVENT_LOG_ERR:
		rm_log_error(0, "libevent: %s", text);
		break;
	case EVENT_LOG_WARN:
		rm_log_warn(0, "libevent: %s", text);
		break;
	default:
		rm_log_debug("libevent: %s", text);
	}
}

void
rm_log_open(const char *name)
{
	log_state.name = name;
	event_set_log_callback(log_on_libevent);
}

void
rm_log_set_level(enum rm_log_level level)
{
	log_state.level = level;
}

void
rm_log_set_sink(rm_log_sink *sink, void *arg)
{
	log_state.sink = sink;
	log_state.sink_arg = arg;
}

/* Appends, truncated to the room that is left. */
static void __attribute__((format(printf, 3, 4)))
log_append(char line[LOG_LINE], size_t *len, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + *len, LOG_LINE - *len, format, args);
	va_end(args);
	if (n > 0)
		*len += (size_t)n < LOG_LINE - *len ? (size_t)n : LOG_LINE - *len - 1;
}

/* Writes each line with one write(), so that lines of several threads do not mix. */
static void
log_write(enum rm_log_level level, const char *line)
{
	char out[LOG_LINE + 8];
	int len = snprintf(out, sizeof(out), "<%d>%s\n", (int)level, line);

	/* A failure of stderr cannot be reported anywhere. */
	if (write(STDERR_FILENO, out, (size_t)len) < 0)
		return;
}

void
rm_log_at(
    enum rm_log_level level, const char *file, int line, int r, const char *format, ...)
{
	uint64_t suppressed = 0;
	char text[LOG_TEXT], out[LOG_LINE];
	size_t len = 0;
	va_list args;
	bool allowed;

	if (level > log_state.level)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	pthread_mutex_lock(&log_state.lock);
	allowed = rm_log_limit_allows(
	    &log_state.limit, file, line, text, rm_mono_now(), &suppressed);
	pthread_mutex_unlock(&log_state.lock);
	if (!allowed)
		return;

	if (log_state.name != NULL)
		log_append(out, &len, "%s: ", log_state.name);
	log_append(out, &len, "%s", text);
	if (r < 0 && strerrordesc_np(-r) != NULL)
		log_append(out, &len, ": %s", strerrordesc_np(-r));
	else if (r < 0)
		log_append(out, &len, ": error %d", r);
	if (suppressed > 0)
		log_append(out, &len, " (%" PRIu64 " like it not shown)", suppressed);
	for (char *c = out; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' '; /* journald would take the rest as another line */

	if (log_state.sink != NULL)
		log_state.sink(level, out, log_state.sink_arg);
	else
		log_write(level, out);
}

const char *
rm_log_quote(char *out, size_t out_len, const char *text, size_t text_len)
{
	size_t at = 0;

	if (out_len < 3) { /* there is no room for the quotes */
		if (out_len > 0)
			out[0] = '\0';
		return out;
	}
	out[at++] = '"';
	for (size_t i = 0; i < text_len; i++) {
		unsigned char c = (unsigned char)text[i];
		char piece[5];
		size_t len;

		if (c == '"' || c == '\\')
			len = (size_t)snprintf(piece, sizeof(piece), "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			len = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", c);
		else
			len = (size_t)snprintf(piece, sizeof(piece), "%c", c);
		if (at + len + 2 > out_len) /* the closing quote and the 0 */
			break;
		memcpy(out + at, piece, len);
		at += len;
	}
	out[at++] = '"';
	out[at] = '\0';
	return out;
}

static struct rm_log_caller *
limit_caller(struct rm_log_limit *limit, const char *file, int line)
{
	uint64_t start =
	    ((uintptr_t)file + (uint64_t)line) * UINT64_C(0x9e3779b97f4a7c15);
	struct rm_log_caller *caller;

	for (unsigned i = 0; i < RM_LOG_LIMIT_CALLERS; i++) {
		caller = &limit->callers[((start >> 32) + i) % RM_LOG_LIMIT_CALLERS];
		if (caller->file == NULL) {
			caller->file = file;
			caller->line = line;
			return caller;
		}
		if (caller->file == file && caller->line == line)
			return caller;
	}
	return &limit->callers[RM_LOG_LIMIT_CALLERS];
}

bool
rm_log_limit_allows(struct rm_log_limit *limit, const char *file, int line,
    const char *text, rm_mono_t now, uint64_t *suppressed)
{
	struct rm_log_caller *caller = limit_caller(limit, file, line);
	uint64_t hash = rm_fnv1a(RM_FNV1A, text, strlen(text));

	if (caller->lines == 0 ||
	    rm_mono_since(now, caller->since) >= RM_LOG_LIMIT_WINDOW_NS) {
		caller->since = now;
		caller->lines = 0;
		caller->same = 0;
	}
	if (hash != caller->text)
		caller->same = 0;
	if (caller->same >= RM_LOG_LIMIT_SAME || caller->lines >= RM_LOG_LIMIT_LINES) {
		caller->suppressed++;
		return false;
	}
	caller->text = hash;
	caller->same++;
	caller->lines++;
	*suppressed = caller->suppressed;
	caller->suppressed = 0;
	return true;
}

#include "rackmesh/metrics/line_protocol.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "rackmesh/metrics/decimal.h"

#define INTEGER_TEXT 24 /* sign, 19 digits, and one character behind them */

enum line_state {
	LINE_BEGUN = 1,
	LINE_FIELDS = 2, /* fields so far; after the first one no tag may follow */
	LINE_INVALID = 4,
	LINE_FULL = 8,
};

/* Classes of bytes, so that a text is checked and copied in one pass. */
enum byte_class {
	BYTE_MEASUREMENT = 1, /* escaped in the measurement */
	BYTE_NAME = 2,        /* escaped in tag keys and values, and field keys */
	BYTE_STRING = 4,      /* escaped in string fields */
	BYTE_BREAK = 8,       /* ends a line everywhere */
	BYTE_END = 16,
};

static const uint8_t byte_classes[256] = {
	['\0'] = BYTE_END,
	['\n'] = BYTE_BREAK,
	['\r'] = BYTE_BREAK,
	[','] = BYTE_MEASUREMENT | BYTE_NAME,
	[' '] = BYTE_MEASUREMENT | BYTE_NAME,
	['='] = BYTE_NAME,
	['"'] = BYTE_STRING,
	['\\'] = BYTE_STRING,
};

static inline void
line_put(struct rm_line *line, char c)
{
	if (line->at < line->capacity)
		line->out[line->at++] = c;
	else
		line->state |= LINE_FULL;
}

static void
line_put_bytes(struct rm_line *line, const char *bytes, size_t len)
{
	if (len > line->capacity - line->at) {
		line->state |= LINE_FULL;
		return;
	}
	memcpy(line->out + line->at, bytes, len);
	line->at += len;
}

/*
 * A line break cannot be escaped outside of string fields; in them it would break
 * programs that read line by line. So it makes the point invalid. Returns the length of
 * the text.
 */
static inline size_t
line_put_escaped(struct rm_line *line, const char *text, unsigned escaped)
{
	size_t i = 0, at = line->at, capacity = line->capacity;
	char *out = line->out;

	for (;; i++) {
		unsigned class = byte_classes[(unsigned char)text[i]];

		if (class & (escaped | BYTE_BREAK | BYTE_END)) {
			if (class & BYTE_END)
				break;
			if (class & BYTE_BREAK)
				line->state |= LINE_INVALID;
			else if (at < capacity)
				out[at++] = '\\';
		}
		if (at >= capacity) {
			line->state |= LINE_FULL;
			i += strlen(text + i);
			break;
		}
		out[at++] = text[i];
	}
	line->at = at;
	return i;
}

/* A backslash at the end would escape the separator after it. */
static inline void
line_put_name(struct rm_line *line, const char *name, unsigned escaped)
{
	size_t len = line_put_escaped(line, name, escaped);

	if (len == 0 || name[len - 1] == '\\')
		line->state |= LINE_INVALID;
}

/* Writes two digits at a time, backwards from `end`. Returns the first digit. */
static char *
format_integer(int64_t value, char *end)
{
	static const char pairs[] =
	    "00010203040506070809101112131415161718192021222324"
	    "25262728293031323334353637383940414243444546474849"
	    "50515253545556575859606162636465666768697071727374"
	    "75767778798081828384858687888990919293949596979899";
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char *at = end;

	while (rest >= 100) {
		at -= 2;
		memcpy(at, pairs + 2 * (rest % 100), 2);
		rest /= 100;
	}
	if (rest >= 10) {
		at -= 2;
		memcpy(at, pairs + 2 * rest, 2);
	} else
		*--at = (char)('0' + rest);
	if (value < 0)
		*--at = '-';
	return at;
}

/* Writes the number and one character after it. If there is room, a fixed number of
 * bytes is copied, which is faster; the bytes that are too many are overwritten
 * later. */
static inline void
line_put_integer(struct rm_line *line, int64_t value, char behind)
{
	char text[2 * INTEGER_TEXT], *end = text + INTEGER_TEXT - 1;
	const char *start = format_integer(value, end);
	size_t len = (size_t)(end + 1 - start);

	*end = behind;
	if (line->capacity - line->at < INTEGER_TEXT) {
		line_put_bytes(line, start, len);
		return;
	}
	memcpy(line->out + line->at, start, INTEGER_TEXT);
	line->at += len;
}

void
rm_line_init(struct rm_line *line, char *out, size_t capacity)
{
	*line = (struct rm_line){ .out = out, .capacity = capacity };
}

void
rm_line_begin(struct rm_line *line, const char *measurement)
{
	line->at = line->len;
	line->state = LINE_BEGUN;
	if (measurement[0] == '#') /* the line would be a comment */
		line->state |= LINE_INVALID;
	line_put_name(line, measurement, BYTE_MEASUREMENT);
}

void
rm_line_tag(struct rm_line *line, const char *key, const char *value)
{
	if (line->state & LINE_FIELDS)
		line->state |= LINE_INVALID;
	if (value[0] == '\0')
		/* an empty tag means that there is no tag, and the protocol cannot
		 * express it */
		return;
	line_put(line, ',');
	line_put_name(line, key, BYTE_NAME);
	line_put(line, '=');
	line_put_name(line, value, BYTE_NAME);
}

static inline void
line_field(struct rm_line *line, const char *key)
{
	line_put(line, line->state & LINE_FIELDS ? ',' : ' ');
	line->state |= LINE_FIELDS;
	line_put_name(line, key, BYTE_NAME);
	line_put(line, '=');
}

void
rm_line_int(struct rm_line *line, const char *key, int64_t value)
{
	line_field(line, key);
	line_put_integer(line, value, 'i');
}

void
rm_line_double(struct rm_line *line, const char *key, double value)
{
	char text[RM_DECIMAL_TEXT];

	if (!isfinite(value))
		return;
	line_field(line, key);
	rm_decimal_format(value, text);
	line_put_bytes(line, text, strlen(text));
}

void
rm_line_string(struct rm_line *line, const char *key, const char *value)
{
	line_field(line, key);
	line_put(line, '"');
	line_put_escaped(line, value, BYTE_STRING);
	line_put(line, '"');
}

int
rm_line_end(struct rm_line *line, rm_wall_t when)
{
	unsigned state;

	line_put(line, ' ');
	line_put_integer(line, when.ns, '\n');

	state = line->state;
	line->state = 0;
	if ((state & LINE_INVALID) || !(state & LINE_BEGUN) || !(state & LINE_FIELDS)) {
		line->at = line->len;
		return -EINVAL;
	}
	if (state & LINE_FULL) {
		line->at = line->len;
		return -ENOSPC;
	}
	line->len = line->at;
	return 0;
}

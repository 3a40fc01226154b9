#include "rackmesh/core/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
rm_why(struct rm_why *why, int r, const char *format, ...)
{
	char text[sizeof(why->text)];
	va_list args;
	int len;

	if (why == NULL)
		return r;

	/* By way of a copy: a caller may well wrap why->text in a longer sentence. */
	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		text[0] = '\0';
	else if ((size_t)len >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	memcpy(why->text, text, sizeof(text));
	return r;
}

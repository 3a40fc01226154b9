#include "rackmesh/core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
rm_error_set(struct rm_error *error, int r, const char *format, ...)
{
	char text[sizeof(error->text)];
	va_list args;
	int len;

	if (error == NULL)
		return r;

	/* Formats into a copy first: the arguments may contain error->text itself. */
	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		text[0] = '\0';
	else if ((size_t)len >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	memcpy(error->text, text, sizeof(text));
	return r;
}

#include "rackmesh/metrics/decimal.h"

#include <stdio.h>
#include <stdlib.h>

const char *
rm_decimal_format(double value, char text[RM_DECIMAL_TEXT])
{
	/* 15 significant digits always survive the conversion to a double and back; 17
	 * are enough for every double. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, RM_DECIMAL_TEXT, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

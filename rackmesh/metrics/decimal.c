#include "rackmesh/metrics/decimal.h"

#include <stdio.h>
#include <stdlib.h>

const char *
rm_decimal_format(double value, char text[RM_DECIMAL_TEXT])
{
	/* 15 digits are always exact in decimal, 17 always suffice for a double. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, RM_DECIMAL_TEXT, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

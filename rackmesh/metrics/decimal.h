/*
 * decimal - the shortest decimal text of a double that reads back the same.
 */
#ifndef RACKMESH_METRICS_DECIMAL_H
#define RACKMESH_METRICS_DECIMAL_H

#define RM_DECIMAL_TEXT 32

/* Finite values only. Returns text. */
const char *rm_decimal_format(double value, char text[RM_DECIMAL_TEXT]);

#endif

/*
 * influx_gzip - a batch, packed by gzip on the worker.
 */
#ifndef ANALYZER_HISTORY_INFLUX_GZIP_H
#define ANALYZER_HISTORY_INFLUX_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* *out: malloc'd; the caller frees it. -ENOMEM, -EIO. */
int influx_gzip(const char *text, size_t len, uint8_t **out, size_t *out_len);

#endif

/*
 * optics_text - power and temperature of optical modules, as switches write them. Pure.
 */
#ifndef TOR_AGGREGATOR_OPTICS_OPTICS_TEXT_H
#define TOR_AGGREGATOR_OPTICS_OPTICS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Darker is a transmitter that is off: -30 dBm. */
#define OPTICS_DARK_NW 1000

/* In nanowatts, from dBm: 0 for "-inf". -ENODATA: it is not told; -EBADMSG: it is no
 * power of an optical module. */
int optics_text_power(const char *text, size_t len, uint64_t *ret);
/* In whole degrees; below 0 is 0. -ENODATA, -EBADMSG. */
int optics_text_celsius(const char *text, size_t len, uint64_t *ret);

#endif

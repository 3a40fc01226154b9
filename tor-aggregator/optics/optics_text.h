/*
 * optics_text - parses the power and the temperature of optical modules as switches
 * write them. Pure.
 */
#ifndef TOR_AGGREGATOR_OPTICS_OPTICS_TEXT_H
#define TOR_AGGREGATOR_OPTICS_OPTICS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A transmitter with less power, -30 dBm, is off. */
#define OPTICS_DARK_NW 1000

/* Converts dBm to nanowatts; "-inf" is 0. -ENODATA: the text says that there is no
 * value; -EBADMSG: the text is no power of an optical module. */
int optics_text_power(const char *text, size_t len, uint64_t *ret);
/* Whole degrees Celsius; a value below 0 becomes 0. -ENODATA, -EBADMSG as above. */
int optics_text_celsius(const char *text, size_t len, uint64_t *ret);

#endif

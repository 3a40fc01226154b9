/*
 * analyzer_link_options - the addresses of the analyzers, and the identity in the hello
 * to them.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_OPTIONS_H
#define TOR_AGGREGATOR_ANALYZER_ANALYZER_LINK_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct peer_versions;
struct rm_endpoint;
struct rm_tls;

struct analyzer_link_options {
	const struct rm_endpoint *analyzers; /* copied */
	size_t analyzer_count;
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	const char *const *tors; /* borrowed */
	size_t tor_count;
	uint16_t summary_interval_s; /* reported in the hello */
	/* Borrowed; the link stores the analyzers' versions in it. */
	struct peer_versions *versions;
};

#endif

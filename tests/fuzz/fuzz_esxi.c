/*
 * Any bytes as the output of an ESXi host, read twice. No more rows are kept than the
 * limits allow, names need no quoting, and only a complete answer counts.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/hypervisor/esxi.h"
#include "tor-aggregator/hypervisor/hypervisor_findings.h"
#include "tor-aggregator/hypervisor/hypervisor_nics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_nic(const struct hypervisor_nic *nic)
{
	static char reported[HYPERVISOR_FINDINGS][FINDING_BYTES];

	if (nic->name[0] == '\0')
		abort();
	for (const char *at = nic->name; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && strchr("._-", *at) == NULL)
			abort();
	for (const char *at = nic->driver; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			abort();
	for (size_t i = 0; i < hypervisor_values(); i++)
		if (nic->states[i].there && (!nic->there || !nic->samples[i].there))
			abort();
	if (hypervisor_findings_report(nic, 1000000000, reported) > HYPERVISOR_FINDINGS)
		abort();
}

static void
read_once(struct hypervisor_nics *nics, const uint8_t *data, size_t len, size_t piece)
{
	struct hypervisor_nics_counts counts = { 0 };
	struct rm_error error = { .text = "" };
	struct esxi *esxi = esxi_new(nics, &counts);
	int r = 0;

	if (esxi == NULL)
		abort();
	for (size_t at = 0; r == 0 && at < len; at += piece)
		r = esxi_feed(esxi, data + at, len - at < piece ? len - at : piece);
	esxi_feed_error(esxi, data, len);
	if (r == 0)
		r = esxi_end(esxi, &error);
	if (r == 0)
		for (size_t i = 0; i < hypervisor_nics_count(nics); i++)
			check_nic(hypervisor_nics_get(nics, i));
	else if (counts.values != 0 || error.text[0] == '\0')
		abort();
	esxi_free(esxi);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const size_t piece = len > 0 ? 1 + data[0] : 1, half = len / 2;
	struct hypervisor_nics *nics = hypervisor_nics_new();

	if (nics == NULL)
		abort();
	read_once(nics, data, len, piece);
	read_once(nics, data + half, len - half, piece);
	if (hypervisor_nics_count(nics) > HYPERVISOR_MAX_NICS)
		abort();
	hypervisor_nics_free(nics);
	return 0;
}

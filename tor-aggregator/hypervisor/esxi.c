#include "tor-aggregator/hypervisor/esxi.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#define MARK "@rackmesh "
#define COLUMNS 16
#define COLUMN_BYTES 40
#define ERROR_BYTES 120

/* This is a script for the shell of ESXi, BusyBox. */
const char esxi_command[] =
    "echo '" MARK "list'; esxcli network nic list; "
    "echo '" MARK "pause'; esxcli network nic pauseParams list; "
    "for n in $(vsish -e ls /net/pNics/); do n=${n%/}; "
    "echo \"" MARK "vsish $n\"; vsish -e cat /net/pNics/$n/stats; "
    "echo \"" MARK "stats $n\"; esxcli network nic stats get -n $n; "
    "echo \"" MARK "dcb $n\"; esxcli network nic dcb status get -n $n; "
    "done; echo '" MARK "end'";

enum section { NONE, LIST, PAUSE, VSISH, STATS, DCB, END };

static const struct section_name {
	const char *name;
	enum section section;
	bool of_nic;
	enum hypervisor_place place; /* the section that is being read */
} sections[] = {
	{ "list", LIST, false, HYPERVISOR_LIST },
	{ "pause", PAUSE, false, HYPERVISOR_PAUSE },
	{ "vsish", VSISH, true, HYPERVISOR_GENERAL },
	{ "stats", STATS, true, HYPERVISOR_STATS },
	{ "dcb", DCB, true, HYPERVISOR_DCB },
	{ "end", END, false, HYPERVISOR_GENERAL },
};

struct esxi {
	struct hypervisor_nics *nics;
	struct hypervisor_nics_counts *counts;
	enum section section;
	enum hypervisor_place place;
	struct hypervisor_nic *nic; /* the NIC that the section is about; NULL: none */
	/* The names in the head of a table; column_count 0: the head was not read
	 * yet. */
	char columns[COLUMNS][COLUMN_BYTES];
	size_t column_count;
	char line[ESXI_LINE_BYTES];
	size_t line_len;
	bool line_cut;
	uint64_t bytes;
	/* vsish has statistics of a NIC: then pauses of esxcli are ignored */
	bool vsish_seen;
	char error[ERROR_BYTES]; /* start of the error output */
	size_t error_len;
};

struct esxi *
esxi_new(struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts)
{
	struct esxi *esxi = calloc(1, sizeof(*esxi));

	if (esxi == NULL)
		return NULL;
	esxi->nics = nics;
	esxi->counts = counts;
	hypervisor_nics_begin(nics);
	return esxi;
}

void
esxi_free(struct esxi *esxi)
{
	free(esxi);
}

/* ---- tables ---- */

/* Columns in the heading are at least two spaces apart, because a name may contain one
 * space. */
static void
take_head(struct esxi *esxi, const char *line)
{
	while (*line != '\0' && esxi->column_count < COLUMNS) {
		const char *gap = strstr(line, "  ");
		const size_t len = gap == NULL ? strlen(line) : (size_t)(gap - line);

		if (len > 0 && len < COLUMN_BYTES) {
			memcpy(esxi->columns[esxi->column_count], line, len);
			esxi->columns[esxi->column_count++][len] = '\0';
		} else if (len > 0) {
			esxi->columns[esxi->column_count++][0] = '\0';
		}
		line += len;
		line += strspn(line, " ");
	}
}

/* Only the last column, which is a description, has spaces in its values. */
static void
take_row(struct esxi *esxi, char *line)
{
	struct hypervisor_nic *nic;
	char *rest = NULL, *token = strtok_r(line, " ", &rest);

	nic = token == NULL ? NULL
			    : hypervisor_nics_report(esxi->nics, token, esxi->counts);
	if (nic == NULL)
		return;
	for (size_t i = 1; i < esxi->column_count; i++) {
		token = strtok_r(NULL, " ", &rest);
		if (token == NULL)
			return;
		hypervisor_nic_take(
		    nic, esxi->place, esxi->columns[i], token, esxi->counts);
	}
}

static void
take_table_line(struct esxi *esxi, char *line)
{
	if (esxi->column_count == 0) {
		if (strncmp(line, "Name ", 5) == 0 || strncmp(line, "NIC ", 4) == 0)
			take_head(esxi, line);
	} else if (strncmp(line, "--", 2) != 0) {
		take_row(esxi, line);
	}
}

/* ---- lists of "name: value", "name : value" and "name:value" ---- */

static void
cut_end(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
}

static void
take_pair(struct esxi *esxi, char *line)
{
	char *colon = strrchr(line, ':');

	if (colon == NULL)
		return;
	*colon++ = '\0';
	cut_end(line);
	colon += strspn(colon, " \t");
	hypervisor_nic_take(esxi->nic, esxi->place, line, colon, esxi->counts);
}

static void
take_section_line(struct esxi *esxi, char *line)
{
	if (esxi->section == VSISH && strncmp(line, "-- ", 3) == 0)
		esxi->place = strncmp(line, "-- Driver", 9) == 0 ? HYPERVISOR_DRIVER
								 : HYPERVISOR_GENERAL;
	else if (esxi->nic != NULL)
		take_pair(esxi, line);
}

/* ---- lines ---- */

static void
take_mark(struct esxi *esxi, char *mark)
{
	char *rest = NULL;
	const char *token = strtok_r(mark, " ", &rest);
	const char *nic = strtok_r(NULL, " ", &rest);

	esxi->section = NONE;
	esxi->nic = NULL;
	esxi->column_count = 0;
	for (size_t i = 0; token != NULL && i < sizeof(sections) / sizeof(sections[0]);
	     i++) {
		if (strcmp(token, sections[i].name) != 0)
			continue;
		esxi->section = sections[i].section;
		esxi->place = sections[i].place;
		if (sections[i].of_nic && nic != NULL)
			esxi->nic =
			    hypervisor_nics_report(esxi->nics, nic, esxi->counts);
		esxi->vsish_seen |= esxi->section == VSISH && esxi->nic != NULL;
	}
}

static void
take_line(struct esxi *esxi)
{
	char *line = esxi->line;

	line[esxi->line_len] = '\0';
	cut_end(line);
	line += strspn(line, " \t{");
	if (strncmp(line, MARK, strlen(MARK)) == 0)
		take_mark(esxi, line + strlen(MARK));
	else if (esxi->section == LIST || esxi->section == PAUSE)
		take_table_line(esxi, line);
	else if (esxi->section != NONE && esxi->section != END)
		take_section_line(esxi, line);
}

static void
end_line(struct esxi *esxi)
{
	if (esxi->line_cut)
		esxi->counts->parse_errors++;
	else
		take_line(esxi);
	esxi->line_len = 0;
	esxi->line_cut = false;
}

int
esxi_feed(struct esxi *esxi, const void *data, size_t len)
{
	const char *text = data;

	esxi->bytes += len;
	if (esxi->bytes > ESXI_MAX_BYTES)
		return -EMSGSIZE;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			end_line(esxi);
		else if (text[i] == '\0' || esxi->line_len == ESXI_LINE_BYTES - 1)
			esxi->line_cut = true;
		else
			esxi->line[esxi->line_len++] = text[i];
	}
	return 0;
}

int
esxi_feed_error(struct esxi *esxi, const void *data, size_t len)
{
	const char *text = data;

	esxi->bytes += len;
	if (esxi->bytes > ESXI_MAX_BYTES)
		return -EMSGSIZE;
	for (size_t i = 0; i < len && esxi->error_len < ERROR_BYTES - 1; i++)
		if (text[i] >= ' ' && text[i] <= '~' && text[i] != '"')
			esxi->error[esxi->error_len++] = text[i];
		else if (text[i] == '\n' && esxi->error_len > 0)
			esxi->error[esxi->error_len++] = ' ';
	return 0;
}

static const char *
reported(struct esxi *esxi)
{
	cut_end(esxi->error);
	return esxi->error[0] == '\0' ? "nothing" : esxi->error;
}

int
esxi_end(struct esxi *esxi, struct rm_error *error)
{
	end_line(esxi);
	if (esxi->section != END)
		return rm_error_set(error, -EPROTO,
		    "its answer ends too early; its error output begins with \"%s\"",
		    reported(esxi));
	if (hypervisor_nics_seen(esxi->nics) == 0)
		return rm_error_set(error, -EPROTO,
		    "its answer has no vmnic: is it an ESXi host, and may the user run "
		    "esxcli and vsish? Its error output begins with \"%s\"",
		    reported(esxi));
	if (!esxi->vsish_seen)
		return rm_error_set(error, -EPROTO,
		    "vsish reports no vmnic: may the user run it? Its error output "
		    "begins with \"%s\"",
		    reported(esxi));
	hypervisor_nics_close(esxi->nics, esxi->counts);
	return 0;
}

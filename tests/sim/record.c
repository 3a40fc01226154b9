#include "tests/sim/record.h"

#include <inttypes.h>

#include "tests/sim/hex.h"
#include "tests/sim/run_state.h"

static const char *
host_of(
    const struct run *run, const struct sim_lane *lane, char name[RM_PART_NAME_BYTES])
{
	clos_name(run->clos, run->rnics + lane->host, name);
	return name;
}

void
record_begin(const struct run *run)
{
	FILE *out = run->record;

	if (out == NULL)
		return;
	fprintf(out, RECORD_FIRST_LINE "\n0 name %s\n0 truth %s\n", run->scenario->name,
	    run->result.truth);
	for (uint32_t i = 0; i < run->racks; i++) {
		const struct sim_rack *rack = &run->rack[i];

		fprintf(out, "0 rack %s %" PRId64 " %" PRId64 "\n0 plan %s ",
		    rack->name, rack->clock_ns, rack->wall_ns, rack->name);
		hex_write(out, rack->plan, rack->plan_len);
		putc('\n', out);
	}
}

void
record_frame(const struct sim_rack *rack, const struct sim_lane *lane,
    const uint8_t *data, size_t len, int64_t now_ns)
{
	FILE *out = rack->run->record;
	char name[RM_PART_NAME_BYTES];

	if (out == NULL)
		return;
	fprintf(out, "%" PRId64 " frame %s %s ", now_ns, rack->name,
	    host_of(rack->run, lane, name));
	hex_write(out, data, len);
	putc('\n', out);
}

void
record_ended(const struct sim_rack *rack, const struct sim_lane *lane, int64_t now_ns)
{
	char name[RM_PART_NAME_BYTES];

	if (rack->run->record != NULL)
		fprintf(rack->run->record, "%" PRId64 " ended %s %s\n", now_ns,
		    rack->name, host_of(rack->run, lane, name));
}

void
record_kernel(const struct sim_rack *rack, const struct sim_lane *lane, bool answers,
    int64_t now_ns)
{
	char name[RM_PART_NAME_BYTES];

	if (rack->run->record != NULL)
		fprintf(rack->run->record, "%" PRId64 " kernel %s %s %s\n", now_ns,
		    rack->name, host_of(rack->run, lane, name),
		    answers ? "answers" : "mute");
}

void
record_life(const struct sim_rack *rack, bool begins, int64_t now_ns)
{
	if (rack->run->record != NULL)
		fprintf(rack->run->record, "%" PRId64 " %s %s\n", now_ns,
		    begins ? "begins" : "ends", rack->name);
}

void
record_end(const struct run *run)
{
	if (run->record != NULL)
		fprintf(run->record, "%" PRId64 " end\n", run->end_ns);
}

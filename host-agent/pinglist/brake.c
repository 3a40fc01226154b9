#include "host-agent/pinglist/brake.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

static const uint8_t magic[8] = { 'R', 'M', 'B', 'R', 0, 0, 0, 1 };

#define VERSION_AT 8
#define PERMILLE_AT 16
#define CRC_AT 20
#define CRC_END 24

void
brake_session(struct brake *brake, size_t aggregator)
{
	if (aggregator < BRAKE_MAX_AGGREGATORS)
		brake->reports[aggregator].session = false;
}

void
brake_take(struct brake *brake, size_t aggregator, const struct wire_brake *received)
{
	struct brake_report *report;

	if (aggregator >= BRAKE_MAX_AGGREGATORS)
		return;
	report = &brake->reports[aggregator];
	if (report->session && received->version < report->brake.version)
		return;
	report->brake = *received;
	if (report->brake.rate_permille > BRAKE_NONE)
		report->brake.rate_permille = BRAKE_NONE;
	report->received = report->session = true;
	/* Version 0: the aggregator itself has not received a brake. */
	if (received->version > 0)
		brake->kept = (struct wire_brake){ 0 };
}

static void
newer(struct wire_brake *best, const struct wire_brake *other)
{
	if (other->version > best->version ||
	    (other->version == best->version &&
		other->rate_permille < best->rate_permille))
		*best = *other;
}

struct wire_brake
brake_now(const struct brake *brake)
{
	struct wire_brake best = { 0, BRAKE_NONE };

	if (brake->kept.version > 0)
		best = brake->kept;
	for (size_t i = 0; i < BRAKE_MAX_AGGREGATORS; i++) {
		if (brake->reports[i].received)
			newer(&best, &brake->reports[i].brake);
	}
	return best;
}

static uint32_t
file_checksum(const uint8_t *file)
{
	return (uint32_t)crc32(0, file, CRC_AT);
}

void
brake_seal(const struct wire_brake *brake, uint8_t file[BRAKE_FILE_BYTES])
{
	uint64_t version = htobe64(brake->version);
	uint32_t permille = htobe32(brake->rate_permille), crc;

	memset(file, 0, BRAKE_FILE_BYTES);
	memcpy(file, magic, sizeof(magic));
	memcpy(file + VERSION_AT, &version, sizeof(version));
	memcpy(file + PERMILLE_AT, &permille, sizeof(permille));
	crc = htobe32(file_checksum(file));
	memcpy(file + CRC_AT, &crc, sizeof(crc));
}

int
brake_open(struct brake *brake, const uint8_t *file, size_t len)
{
	static const uint8_t zeros[BRAKE_FILE_BYTES - CRC_END];
	uint64_t version;
	uint32_t permille, crc;

	if (len != BRAKE_FILE_BYTES || memcmp(file, magic, sizeof(magic)) != 0 ||
	    memcmp(file + CRC_END, zeros, sizeof(zeros)) != 0)
		return -EBADMSG;
	memcpy(&version, file + VERSION_AT, sizeof(version));
	memcpy(&permille, file + PERMILLE_AT, sizeof(permille));
	memcpy(&crc, file + CRC_AT, sizeof(crc));
	if (be32toh(crc) != file_checksum(file) || be32toh(permille) > BRAKE_NONE)
		return -EBADMSG;
	brake->kept.version = be64toh(version);
	brake->kept.rate_permille = be32toh(permille);
	return 0;
}

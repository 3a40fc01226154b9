/*
 * plan_fixture - small plans as wire bytes, and the results of a small rack.
 *
 * Member i is RNIC 0x100 + i, host "h<i>" (or i / rails), device "r<rail>".
 */
#ifndef TESTS_PLAN_FIXTURE_H
#define TESTS_PLAN_FIXTURE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"

#define FIXTURE_MAX 256
#define FIXTURE_REMOTE 0x9000u

struct plan_fixture {
	struct wire_writer *writer;
	struct wire_bytes bytes;
	struct wire_plan_view view;
	struct wire_rnic members[FIXTURE_MAX], remotes[FIXTURE_MAX];
	char names[2 * FIXTURE_MAX][24];
	uint8_t mesh_sl, entry_sl;
	uint32_t probe_timeout_ms; /* 0: absent */
};

static const uint16_t fixture_flows[] = { 50000, 50001 };
static const uint8_t fixture_dscps[] = { 26, 0 };
static const uint16_t fixture_sizes[] = { 64 };

static inline struct wire_rnic
fixture_rnic(uint64_t guid, const char *host, const char *tor)
{
	struct wire_rnic rnic = {
		.id = { guid, 1 },
		.host = host,
		.device = "r0",
		.driver = "mlx5_core",
		.tors = { tor },
		.tor_count = 1,
		.plane = "p",
		.address_count = 1,
		.mtu_bytes = 4096,
	};

	rnic.addresses[0].family = 4;
	rnic.addresses[0].bytes[0] = 10;
	rnic.addresses[0].bytes[2] = (uint8_t)(guid >> 8);
	rnic.addresses[0].bytes[3] = (uint8_t)guid;
	rnic.addresses[0].port = 862;
	return rnic;
}

/* Writes a plan. Its entries are from member 0 to each remote RNIC. */
static inline void
fixture_plan(struct plan_fixture *f, uint64_t version, size_t members, size_t remotes)
{
	struct wire_plan_entry entries[FIXTURE_MAX];
	struct wire_plan plan = {
		.region = "lab",
		.tor = "t1",
		.plane = "p",
		.version = version,
		.digest = version,
		.mesh = { .peers = 10,
		    .interval_us = 100000,
		    .rotation_s = 60,
		    .sl = f->mesh_sl,
		    .flows = fixture_flows,
		    .flow_count = 2,
		    .dscps = fixture_dscps,
		    .dscp_count = 2,
		    .sizes = fixture_sizes,
		    .size_count = 1 },
		.members = f->members,
		.member_count = members,
		.remotes = f->remotes,
		.remote_count = remotes,
		.entries = entries,
		.entry_count = members > 0 ? remotes : 0,
		.probe_timeout_ms = f->probe_timeout_ms,
	};
	int r;

	if (f->writer == NULL)
		f->writer = wire_writer_new();
	for (size_t i = 0; i < members; i++) {
		snprintf(f->names[i], sizeof(f->names[i]), "h%zu", i);
		if (f->members[i].id.guid == 0)
			f->members[i] = fixture_rnic(0x100 + i, f->names[i], "t1");
	}
	for (size_t i = 0; i < remotes; i++) {
		char *name = f->names[FIXTURE_MAX + i];

		snprintf(name, sizeof(f->names[0]), "x%zu", i);
		if (f->remotes[i].id.guid == 0)
			f->remotes[i] =
			    fixture_rnic(FIXTURE_REMOTE + i, name, i % 2 ? "t3" : "t2");
		entries[i] = (struct wire_plan_entry){ .dst = (uint32_t)i,
			.kind = WIRE_WITNESS,
			.interval_us = 50000,
			.paired = true,
			.sl = f->entry_sl,
			.flows = fixture_flows,
			.flow_count = 1,
			.dscps = fixture_dscps,
			.dscp_count = 1,
			.sizes = fixture_sizes,
			.size_count = 1 };
	}
	r = wire_write_plan(f->writer, &plan, &f->bytes);
	assert(r == 0);
	r = wire_open_plan(&f->view, f->bytes.data, f->bytes.len);
	assert(r == 0);
	(void)r;
}

static inline void
fixture_free(struct plan_fixture *f)
{
	wire_writer_free(f->writer);
	free(f);
}

#endif

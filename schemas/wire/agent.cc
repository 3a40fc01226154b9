#include "schemas/wire/agent.h"

#include <cstdio>

#include "schemas/wire/identity_internal.h"
#include "schemas/wire/message_internal.h"

#include "agent_generated.h"
#include "pinglist_generated.h"

namespace
{

wire::offset<rackmesh::Settings>
put_settings(wire_writer *writer, const struct wire_settings &settings)
{
	auto numbers =
	    wire::numbers(writer, settings.numbers, WIRE_SETTINGS, WIRE_MAX_SETTINGS);
	auto firmware = wire::text(writer, settings.firmware);
	auto dscps = wire::numbers(writer, settings.dscps,
	    (settings.known >> WIRE_SETTING_DSCPS & 1) != 0 ? WIRE_DSCPS : 0,
	    WIRE_DSCPS);

	auto bond_ports = settings.bond_ports[0] == '\0'
			      ? 0
			      : wire::text(writer, settings.bond_ports);

	return rackmesh::CreateSettings(
	    writer->fbb, settings.known, numbers, firmware, dscps, bond_ports);
}

void
check_settings(wire::checker *check, const rackmesh::Settings *settings)
{
	check->elements(settings->numbers(), WIRE_MAX_SETTINGS);
	check->text(settings->firmware());
	check->text(settings->bond_ports());
	check->elements(settings->dscps(), WIRE_DSCPS);
}

} /* namespace */

int
wire_write_register(
    struct wire_writer *writer, const struct wire_register *reg, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnics = wire::tables(
	    writer, reg->rnics, reg->rnic_count, WIRE_MAX_HOST_RNICS, wire::put_rnic);
	auto settings = wire::tables(writer, reg->settings,
	    reg->settings == nullptr ? 0 : reg->rnic_count, WIRE_MAX_HOST_RNICS,
	    put_settings);
	auto host = wire::text(writer, reg->host);
	auto root = rackmesh::CreateRegister(
	    writer->fbb, host, reg->incarnation, rnics, settings);
	return wire::finish(writer, root.Union(), WIRE_REGISTER, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_register(struct wire_register_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Register *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_REGISTER,
	    1 + WIRE_MAX_HOST_RNICS * (wire::tables_per_rnic + 1), &from);
	if (r < 0)
		return r;
	check.text(from->host());
	check.each(from->rnics(), WIRE_MAX_HOST_RNICS, wire::check_rnic);
	check.each(from->settings(), WIRE_MAX_HOST_RNICS, check_settings);
	if (check.error < 0)
		return check.error;

	view->reg.host = wire::string(from->host());
	view->reg.incarnation = from->incarnation();
	view->reg.rnics = nullptr;
	view->reg.settings = nullptr;
	view->reg.rnic_count = wire::count(from->rnics());
	view->opaque = from;
	return 0;
}

void
wire_register_rnic(
    const struct wire_register_view *view, size_t i, struct wire_rnic *out)
{
	auto from = static_cast<const rackmesh::Register *>(view->opaque);

	wire::get_rnic(from->rnics()->Get(static_cast<uint32_t>(i)), out);
}

bool
wire_register_settings(
    const struct wire_register_view *view, size_t i, struct wire_settings *out)
{
	auto from = static_cast<const rackmesh::Register *>(view->opaque);
	const rackmesh::Settings *settings;

	if (i >= wire::count(from->settings()))
		return false;
	settings = from->settings()->Get(static_cast<uint32_t>(i));
	*out = {};
	out->known = settings->known();
	for (uint32_t k = 0; k < WIRE_SETTINGS; k++) {
		if (k < wire::count(settings->numbers()))
			out->numbers[k] = settings->numbers()->Get(k);
		else
			/* the sender does not report this setting */
			out->known &= ~(UINT32_C(1) << k);
	}
	out->firmware = wire::string(settings->firmware());
	snprintf(out->bond_ports, sizeof(out->bond_ports), "%s",
	    wire::string(settings->bond_ports()));
	memset(out->dscps, WIRE_NO_PRIORITY, sizeof(out->dscps));
	if (wire::count(settings->dscps()) == WIRE_DSCPS)
		memcpy(out->dscps, settings->dscps()->Data(), WIRE_DSCPS);
	else
		out->known &= ~(UINT32_C(1) << WIRE_SETTING_DSCPS);
	return true;
}

/* ---- heartbeat, receive counts ---- */

namespace
{

wire::offset<rackmesh::Live>
put_live(wire_writer *writer, const char *const &aggregator)
{
	return rackmesh::CreateLive(writer->fbb, wire::text(writer, aggregator));
}

void
check_live(wire::checker *check, const rackmesh::Live *live)
{
	check->text(live->aggregator());
}

} /* namespace */

int
wire_write_heartbeat(struct wire_writer *writer, const struct wire_heartbeat *beat,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto stalls = wire::structs<rackmesh::Stall>(
	    writer, beat->stalls, beat->stall_count, WIRE_MAX_STALLS);
	auto live =
	    wire::tables(writer, beat->live, beat->live_count, WIRE_MAX_LIVE, put_live);
	auto root = rackmesh::CreateHeartbeat(writer->fbb, beat->incarnation, beat->seq,
	    beat->now_ns, beat->loop_lag_max_ns, beat->paused, stalls, beat->self_loss,
	    beat->results_through_ns, beat->slowed_permille, beat->slowed_reason, live,
	    beat->live_mute, beat->paused_by_hand);
	return wire::finish(writer, root.Union(), WIRE_HEARTBEAT, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_heartbeat(struct wire_heartbeat *view, const uint8_t *data, size_t len)
{
	const rackmesh::Heartbeat *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_HEARTBEAT, 1 + WIRE_MAX_LIVE, &from);
	if (r < 0)
		return r;
	check.elements(from->stalls(), WIRE_MAX_STALLS);
	check.each(from->live(), WIRE_MAX_LIVE, check_live);
	if (check.error < 0)
		return check.error;

	view->incarnation = from->incarnation();
	view->seq = from->seq();
	view->now_ns = from->now_ns();
	view->loop_lag_max_ns = from->loop_lag_max_ns();
	view->paused = from->paused();
	view->stalls = wire::borrow<struct wire_stall>(from->stalls());
	view->stall_count = wire::count(from->stalls());
	view->self_loss = from->self_loss();
	view->results_through_ns = from->results_through_ns();
	view->slowed_permille = from->slowed_permille();
	view->slowed_reason = from->slowed_reason();
	view->live = nullptr;
	view->live_count = wire::count(from->live());
	view->live_mute = from->live_mute();
	view->paused_by_hand = from->paused_by_hand();
	view->opaque = from;
	return 0;
}

const char *
wire_heartbeat_live(const struct wire_heartbeat *view, size_t i)
{
	auto from = static_cast<const rackmesh::Heartbeat *>(view->opaque);

	return wire::string(from->live()->Get(static_cast<uint32_t>(i))->aggregator());
}

int
wire_write_counts(struct wire_writer *writer, const struct wire_counts *counts,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows = wire::structs<rackmesh::Count>(
	    writer, counts->rows, counts->row_count, WIRE_MAX_COUNTS);
	auto root = rackmesh::CreateCounts(
	    writer->fbb, counts->incarnation, counts->now_ns, rows);
	return wire::finish(writer, root.Union(), WIRE_COUNTS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_counts(struct wire_counts *view, const uint8_t *data, size_t len)
{
	const rackmesh::Counts *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_COUNTS, 1, &from);
	if (r < 0)
		return r;
	check.elements(from->rows(), WIRE_MAX_COUNTS);
	if (check.error < 0)
		return check.error;

	view->incarnation = from->incarnation();
	view->now_ns = from->now_ns();
	view->rows = wire::borrow<struct wire_count>(from->rows());
	view->row_count = wire::count(from->rows());
	return 0;
}

/* ---- counters of RNICs ---- */

namespace
{

wire::offset<rackmesh::RnicCounters>
put_counters(wire_writer *writer, const struct wire_rnic_counters &rnic)
{
	auto id = wire::put_id(rnic.id);
	auto values = wire::structs<rackmesh::CounterValue>(
	    writer, rnic.values, rnic.value_count, WIRE_MAX_COUNTER_VALUES);

	return rackmesh::CreateRnicCounters(writer->fbb, &id, rnic.interval_ns, values);
}

void
check_counters(wire::checker *check, const rackmesh::RnicCounters *rnic)
{
	check->elements(rnic->values(), WIRE_MAX_COUNTER_VALUES);
}

} /* namespace */

int
wire_write_counter_report(struct wire_writer *writer,
    const struct wire_counter_report *report, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnics = wire::tables(writer, report->rnics, report->rnic_count,
	    WIRE_MAX_HOST_RNICS, put_counters);
	auto root =
	    rackmesh::CreateCounterReport(writer->fbb, report->incarnation, rnics);
	return wire::finish(writer, root.Union(), WIRE_COUNTER_REPORT, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_counter_report(
    struct wire_counter_report *view, const uint8_t *data, size_t len)
{
	const rackmesh::CounterReport *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_COUNTER_REPORT, 1 + WIRE_MAX_HOST_RNICS, &from);
	if (r < 0)
		return r;
	check.each(from->rnics(), WIRE_MAX_HOST_RNICS, check_counters);
	if (check.error < 0)
		return check.error;

	view->incarnation = from->incarnation();
	view->rnics = nullptr;
	view->rnic_count = wire::count(from->rnics());
	view->opaque = from;
	return 0;
}

void
wire_counter_report_rnic(
    const struct wire_counter_report *view, size_t i, struct wire_rnic_counters *out)
{
	auto report = static_cast<const rackmesh::CounterReport *>(view->opaque);
	auto from = report->rnics()->Get(static_cast<uint32_t>(i));

	wire::get_id(from->id(), &out->id);
	out->interval_ns = from->interval_ns();
	out->values = wire::borrow<struct wire_counter_value>(from->values());
	out->value_count = wire::count(from->values());
}

/* ---- focus ---- */

int
wire_write_focus(
    struct wire_writer *writer, const struct wire_focus *focus, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto src = wire::put_id(focus->src);
	auto dst = wire::put_id(focus->dst);
	auto root = rackmesh::CreateFocus(
	    writer->fbb, &src, &dst, focus->interval_us, focus->duration_ms);
	return wire::finish(writer, root.Union(), WIRE_FOCUS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_focus(struct wire_focus *view, const uint8_t *data, size_t len)
{
	const rackmesh::Focus *from = nullptr;
	int r;

	r = wire::open(data, len, WIRE_FOCUS, 1, &from);
	if (r < 0)
		return r;
	wire::get_id(from->src(), &view->src);
	wire::get_id(from->dst(), &view->dst);
	view->interval_us = from->interval_us();
	view->duration_ms = from->duration_ms();
	return 0;
}

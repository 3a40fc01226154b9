/* focus, ping */
#include "schemas/wire_identity.h"

#include "pinglist_generated.h"

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

int
wire_write_ping(struct wire_writer *writer, uint64_t now_ns, struct wire_bytes *out)
{
	const struct wire_ping ping = { now_ns, "", 0, false };

	return wire_write_ping_ending(writer, &ping, out);
}

int
wire_write_ping_ending(
    struct wire_writer *writer, const struct wire_ping *ping, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto ending = ping->ending[0] != '\0' ? wire::text(writer, ping->ending) : 0;
	auto root = rackmesh::CreatePing(
	    writer->fbb, ping->now_ns, ending, ping->ends_s, ping->mute);
	return wire::finish(writer, root.Union(), WIRE_PING, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_ping(uint64_t *now_ns, const uint8_t *data, size_t len)
{
	struct wire_ping ping;
	int r = wire_open_ping_ending(&ping, data, len);

	if (r == 0)
		*now_ns = ping.now_ns;
	return r;
}

int
wire_open_ping_ending(struct wire_ping *view, const uint8_t *data, size_t len)
{
	const rackmesh::Ping *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PING, 1, &from);
	if (r < 0)
		return r;
	check.text(from->ending());
	if (check.error < 0)
		return check.error;
	view->now_ns = from->now_ns();
	view->ending = wire::string(from->ending());
	view->ends_s = from->ends_s();
	view->mute = from->mute();
	return 0;
}

#include "schemas/wire_message.h"

#include "pinglist_generated.h"

int
wire_write_brake(
    struct wire_writer *writer, const struct wire_brake *brake, struct wire_bytes *out)
try {
	wire::begin(writer);
	if (brake->rate_permille > 1000 || brake->version > INT64_MAX)
		wire::refuse(writer, -EINVAL);
	auto root =
	    rackmesh::CreateBrake(writer->fbb, brake->version, brake->rate_permille);
	return wire::finish(writer, root.Union(), WIRE_BRAKE, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_brake(struct wire_brake *view, const uint8_t *data, size_t len)
{
	const rackmesh::Brake *from = nullptr;
	int r;

	r = wire::open(data, len, WIRE_BRAKE, 1, &from);
	if (r < 0)
		return r;
	if (from->rate_permille() > 1000 || from->version() > INT64_MAX)
		return -EBADMSG;
	view->version = from->version();
	view->rate_permille = from->rate_permille();
	return 0;
}

#include "schemas/wire/keys.h"

#include "schemas/wire/identity_internal.h"

#include "keys_generated.h"

namespace
{

struct ids {
	const struct wire_rnic_id *ids;
};

void
put_plain(size_t i, rackmesh::RnicId *out, ids *from)
{
	*out = wire::put_id(from->ids[i]);
}

wire::offset<wire::vector<const rackmesh::RnicId *>>
put_plains(wire_writer *writer, const struct wire_keys *keys)
{
	ids from = { keys->plain };

	if (!wire::counted(writer, keys->plain, keys->plain_count, WIRE_MAX_ROSTER))
		return 0;
	return writer->fbb.CreateVectorOfStructs<rackmesh::RnicId>(
	    keys->plain_count, put_plain, &from);
}

/* data must have been verified before. */
void
view_keys(struct wire_keys *view, const uint8_t *data, size_t len)
{
	auto from = flatbuffers::GetSizePrefixedRoot<rackmesh::Keys>(data);

	view->tor = wire::string(from->tor());
	view->epoch = from->epoch();
	view->version = from->version();
	view->responders = wire::borrow<struct wire_responder_key>(from->responders());
	view->responder_count = wire::count(from->responders());
	view->pairs = wire::borrow<struct wire_pair_key>(from->pairs());
	view->pair_count = wire::count(from->pairs());
	view->plain = nullptr;
	view->plain_count = wire::count(from->plain());
	view->bytes.data = data;
	view->bytes.len = len;
	view->opaque = from;
}

} /* namespace */

int
wire_write_keys(
    struct wire_writer *writer, const struct wire_keys *keys, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto responders =
	    wire::structs<rackmesh::ResponderKey>(writer, keys->responders,
		keys->responder_count, WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS);
	auto pairs = wire::structs<rackmesh::PairKey>(
	    writer, keys->pairs, keys->pair_count, WIRE_MAX_ENTRIES);
	auto plain = put_plains(writer, keys);
	auto tor = wire::text(writer, keys->tor);
	auto root = rackmesh::CreateKeys(
	    writer->fbb, tor, keys->epoch, keys->version, responders, pairs, plain);
	return wire::finish(writer, root.Union(), WIRE_KEYS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len)
{
	const rackmesh::Keys *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_KEYS, 1, &from);
	if (r < 0)
		return r;
	check.text(from->tor());
	check.elements(from->responders(), WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS);
	check.elements(from->pairs(), WIRE_MAX_ENTRIES);
	check.elements(from->plain(), WIRE_MAX_ROSTER);
	if (check.error < 0)
		return check.error;
	view_keys(view, data, len);
	return 0;
}

void
wire_copy_keys(const struct wire_keys *view, uint8_t *data, struct wire_keys *ret)
{
	const struct wire_bytes bytes = view->bytes;

	memcpy(data, bytes.data, bytes.len);
	view_keys(ret, data, bytes.len);
}

struct wire_rnic_id
wire_keys_plain(const struct wire_keys *view, size_t i)
{
	auto from = static_cast<const rackmesh::Keys *>(view->opaque);
	struct wire_rnic_id id;

	wire::get_id(from->plain()->Get(static_cast<uint32_t>(i)), &id);
	return id;
}

/*
 * message_internal - what every message family needs to write and to open one.
 *
 * Private to schemas/. A message is a size-prefixed FlatBuffer whose length is a
 * multiple of 8: the prefix makes both a cut and a trailing byte visible, which
 * the verifier alone would not. Errors stick: helpers go on with empty values and
 * wire::finish, or the checker, says what was first wrong.
 */
#ifndef SCHEMAS_WIRE_MESSAGE_INTERNAL_H
#define SCHEMAS_WIRE_MESSAGE_INTERNAL_H

#include <cerrno>
#include <cstring>
#include <flatbuffers/flatbuffers.h>
#include <vector>

#include "schemas/wire/message.h"

struct wire_writer {
	flatbuffers::FlatBufferBuilder fbb;
	std::vector<flatbuffers::Offset<void>> offsets; /* of one vector's tables */
	int error = 0;
};

namespace wire
{

template <typename T> using offset = flatbuffers::Offset<T>;
template <typename T> using vector = flatbuffers::Vector<T>;

/* ---- writing ------------------------------------------------------------ */

void begin(wire_writer *writer);
void refuse(wire_writer *writer, int error);
/* For the catch clause of a writer: -ENOMEM, and the writer is as new. */
int out_of_memory(wire_writer *writer);
/* Of what follows the last table: sets *out. */
int finish(wire_writer *writer, offset<void> root, enum wire_kind kind,
    struct wire_bytes *out);

/* NULL and "" are the same: not there. */
offset<flatbuffers::String> text(wire_writer *writer, const char *string);
/* Whether there are items to write; more than max are refused. */
bool counted(wire_writer *writer, const void *items, size_t count, size_t max);

/* A caller's enum may hold anything, and loading a bad one is undefined in C++. */
template <typename E>
uint8_t
choice(wire_writer *writer, const E &value, unsigned min, unsigned max)
{
	static_assert(sizeof(E) == sizeof(unsigned), "a C enum is an unsigned here");
	unsigned number;

	memcpy(&number, &value, sizeof(number));
	if (number < min || number > max) {
		refuse(writer, -EINVAL);
		number = min;
	}
	return static_cast<uint8_t>(number);
}

/* As the value is: what is above max is refused. */
uint32_t bounded(wire_writer *writer, uint32_t number, uint32_t max);

template <typename T>
offset<vector<T>>
numbers(wire_writer *writer, const T *items, size_t count, size_t max)
{
	if (!counted(writer, items, count, max))
		return 0;
	return writer->fbb.CreateVector(items, count);
}

/* C's struct and the schema's are one layout: see layout.cc. */
template <typename T, typename C>
offset<vector<const T *>>
structs(wire_writer *writer, const C *items, size_t count, size_t max)
{
	static_assert(sizeof(T) == sizeof(C), "same layout");
	if (!counted(writer, items, count, max))
		return 0;
	return writer->fbb.CreateVectorOfStructs(
	    reinterpret_cast<const T *>(items), count);
}

/* put(writer, item) writes one table; it must not use writer->offsets. */
template <typename T, typename C>
offset<vector<offset<T>>>
tables(wire_writer *writer, const C *items, size_t count, size_t max,
    offset<T> (*put)(wire_writer *, const C &))
{
	if (!counted(writer, items, count, max))
		return 0;
	writer->offsets.clear();
	writer->offsets.reserve(count);
	for (size_t i = 0; i < count; i++) {
		writer->offsets.push_back(put(writer, items[i]).Union());
		if (writer->fbb.GetSize() > WIRE_MAX_BYTES)
			refuse(writer, -EMSGSIZE);
		if (writer->error < 0)
			return 0;
	}
	return writer->fbb.CreateVector(writer->offsets.data(), count).o;
}

/* ---- opening ------------------------------------------------------------ */

/* The semantic half of opening, after the verifier's structural half. */
struct checker {
	int error = 0;
	/* Strings may be shared inside a message, so reading each of them could
	 * cost far more than the message is long. */
	size_t text_budget = WIRE_MAX_BYTES;

	void refuse(int e);
	void text(const flatbuffers::String *string);
	void choice(unsigned number, unsigned min, unsigned max);

	/* The verifier aligns a vector's count, not its elements; and the
	 * elements of an empty one are nowhere. */
	template <typename T> void elements(const vector<T> *items, size_t max)
	{
		using element = std::remove_const_t<std::remove_pointer_t<T>>;

		if (items == nullptr || items->size() == 0)
			return;
		if (items->size() > max)
			refuse(-EMSGSIZE);
		if (reinterpret_cast<uintptr_t>(items->Data()) % alignof(element) != 0)
			refuse(-EBADMSG);
	}

	template <typename T>
	void each(const vector<offset<T>> *items, size_t max,
	    void (*check)(checker *, const T *))
	{
		elements(items, max);
		for (size_t i = 0; i < count(items) && error == 0; i++)
			check(this, items->Get(static_cast<uint32_t>(i)));
	}

	template <typename T> static size_t count(const vector<T> *items)
	{
		return items == nullptr ? 0 : items->size();
	}
};

template <typename T>
size_t
count(const vector<T> *items)
{
	return checker::count(items);
}

/* Borrowed from the message; NULL when there are none. */
template <typename C, typename T>
const C *
borrow(const vector<T> *items)
{
	if (count(items) == 0)
		return nullptr;
	return reinterpret_cast<const C *>(items->Data());
}

const char *string(const flatbuffers::String *text);

/* Everything about the bytes that needs no schema. */
int check_bytes(const uint8_t *data, size_t len, enum wire_kind kind);

/*
 * max_tables bounds the verifier's work before any of our limits is looked at: it
 * is twice what the limits allow, so that a message somewhat too large is still
 * told apart from a malformed one.
 */
template <typename T>
int
open(const uint8_t *data, size_t len, enum wire_kind kind, size_t tables, const T **ret)
{
	flatbuffers::Verifier::Options options;
	int r;

	r = check_bytes(data, len, kind);
	if (r < 0)
		return r;
	options.max_depth = 8;
	options.max_tables = static_cast<flatbuffers::uoffset_t>(2 * tables);
	flatbuffers::Verifier verifier(data, len, options);
	if (!verifier.VerifySizePrefixedBuffer<T>(nullptr))
		return -EBADMSG;
	*ret = flatbuffers::GetSizePrefixedRoot<T>(data);
	return 0;
}

} /* namespace wire */

#endif

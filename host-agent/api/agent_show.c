#include "host-agent/api/agent_show.h"

#include "rackmesh/judge/part.h"
#include "schemas/wire/text.h"

json_t *
agent_show_id(struct wire_rnic_id id)
{
	char text[RM_RNIC_ID_TEXT];

	rm_rnic_id_format((struct rm_rnic_id){ id.guid, id.port }, text);
	return json_string(text);
}

json_t *
agent_show_address(const struct wire_address *address)
{
	char text[WIRE_ADDRESS_TEXT];

	wire_address_format(address, text);
	return json_string(text);
}

void
agent_show_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

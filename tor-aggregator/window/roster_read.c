/* Who is in it. */
#include "tor-aggregator/window/roster_state.h"
#include "tor-aggregator/window/window.h"

const char *
roster_tor(const struct roster *roster)
{
	return roster->tors[0];
}

size_t
roster_members(const struct roster *roster)
{
	return roster->member_count;
}

size_t
roster_foreigners(const struct roster *roster)
{
	return roster->foreigner_count;
}

size_t
roster_hosts(const struct roster *roster)
{
	return roster->host_count;
}

const struct roster_rnic *
roster_member(const struct roster *roster, size_t i)
{
	return &roster->members[i]->rnic;
}

const struct roster_rnic *
roster_foreigner(const struct roster *roster, size_t i)
{
	return &roster->foreigners[i]->rnic;
}

const struct roster_rnic *
roster_at(const struct roster *roster, uint32_t index)
{
	if (index < roster->member_count)
		return &roster->members[index]->rnic;
	if (index >= WINDOW_FOREIGN_BASE &&
	    index - WINDOW_FOREIGN_BASE < roster->foreigner_count)
		return &roster->foreigners[index - WINDOW_FOREIGN_BASE]->rnic;
	return NULL;
}

const char *
roster_host(const struct roster *roster, size_t i)
{
	return roster->hosts[i];
}

const char *
roster_tor_name(const struct roster *roster, uint16_t number)
{
	return number < roster->tor_count ? roster->tors[number] : "";
}

uint64_t
roster_refused(const struct roster *roster)
{
	return roster->refused;
}

#include "host-agent/rnic/rdma_facts.h"

#include <errno.h>
#include <string.h>

/* How near a GID is to being the one. */
enum gid_fit {
	FIT_FOREIGN,    /* of the other family */
	FIT_ROCE_V1,    /* no UDP: no paths by source port, and not routed */
	FIT_LINK_LOCAL, /* would need to know the link of every peer */
	FIT_USABLE,
};

static const int gid_errors[] = {
	[FIT_FOREIGN] = -EADDRNOTAVAIL,
	[FIT_ROCE_V1] = -EPROTONOSUPPORT,
	[FIT_LINK_LOCAL] = -ENETUNREACH,
};

static enum gid_fit
gid_fit(const struct rdma_facts *facts, uint8_t family, const struct rdma_gid *gid)
{
	struct wire_address address;

	if (facts->link == RDMA_LINK_INFINIBAND)
		return gid->type == RDMA_GID_IB ? FIT_USABLE : FIT_FOREIGN;
	gid_to_address(gid->bytes, &address);
	if (address.family != family)
		return FIT_FOREIGN;
	if (gid->type != RDMA_GID_ROCE_V2)
		return FIT_ROCE_V1;
	return gid_is_global(gid->bytes) ? FIT_USABLE : FIT_LINK_LOCAL;
}

static int
pick_index(const struct rdma_facts *facts, const struct rdma_gid_wish *wish,
    struct rdma_gid *ret)
{
	for (size_t i = 0; i < facts->gid_count; i++) {
		const struct rdma_gid *gid = &facts->gids[i];
		enum gid_fit fit;

		if (gid->index != wish->index)
			continue;
		fit = gid_fit(facts, wish->family, gid);
		if (fit == FIT_FOREIGN)
			return -EAFNOSUPPORT;
		if (fit != FIT_USABLE)
			return gid_errors[fit];
		*ret = *gid;
		return 0;
	}
	return -ENXIO;
}

static const char *
preferred_netdev(const struct rdma_facts *facts, const struct rdma_gid_wish *wish)
{
	if (wish->netdev != NULL)
		return wish->netdev;
	return facts->netdev_count == 0 ? "" : facts->netdevs[0];
}

int
rdma_facts_pick_gid(const struct rdma_facts *facts, const struct rdma_gid_wish *wish,
    struct rdma_gid *ret)
{
	const char *netdev = preferred_netdev(facts, wish);
	const struct rdma_gid *best = NULL;
	enum gid_fit best_fit = FIT_FOREIGN;

	if (wish->family != 4 && wish->family != 6)
		return -EINVAL;
	if (wish->index >= 0)
		return pick_index(facts, wish, ret);
	for (size_t i = 0; i < facts->gid_count; i++) {
		const struct rdma_gid *gid = &facts->gids[i];
		enum gid_fit fit = gid_fit(facts, wish->family, gid);

		if (fit < best_fit || fit == FIT_FOREIGN)
			continue;
		if (fit == best_fit && (strcmp(best->netdev, netdev) == 0 ||
					   strcmp(gid->netdev, netdev) != 0))
			continue;
		best = gid;
		best_fit = fit;
	}
	if (best_fit != FIT_USABLE)
		return gid_errors[best_fit];
	*ret = *best;
	return 0;
}

const char *
rdma_facts_error(int r)
{
	switch (-r) {
	case ENODEV:
		return "no such RDMA device";
	case ENOENT:
		return "no such port";
	case ENXIO:
		return "nothing at that place of the GID table, or no GUID";
	case EADDRNOTAVAIL:
		return "no RoCE v2 GID of this address family: has the interface an "
		       "address?";
	case EPROTONOSUPPORT:
		return "only a RoCE v1 GID, and RoCE v2 is needed";
	case ENETUNREACH:
		return "only a link-local GID: has the interface a global address?";
	case EAFNOSUPPORT:
		return "the chosen GID is of the other address family";
	default:
		return strerror(-r);
	}
}

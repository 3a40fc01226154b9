#include "host-agent/counters/dcb_pfc.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/netlink_reply.h"

struct request {
	struct nlmsghdr head;
	struct dcbmsg dcb;
	struct nlattr attribute;
	char netdev[IFNAMSIZ];
};

static const char *const names[] = { "pfc_rx_", "pfc_tx_", "pfc_enabled_" };

static void
take_app(struct dcb_pfc *ret, struct netlink_reader reader)
{
	struct netlink_attribute attribute;
	struct dcb_app app;

	while (netlink_next(&reader, &attribute)) {
		if (attribute.type != DCB_ATTR_IEEE_APP || attribute.len < sizeof(app))
			continue;
		memcpy(&app, attribute.data, sizeof(app));
		if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP ||
		    app.protocol >= DCB_DSCPS)
			continue;
		ret->dscp = true;
		ret->dscps[app.protocol] = app.priority;
	}
}

static void
take_ieee(struct dcb_pfc *ret, struct netlink_reader reader)
{
	struct netlink_attribute attribute;
	struct ieee_pfc pfc;

	while (netlink_next(&reader, &attribute)) {
		if (attribute.type == DCB_ATTR_IEEE_APP_TABLE)
			take_app(ret, netlink_inside(&attribute));
		if (attribute.type != DCB_ATTR_IEEE_PFC || attribute.len < sizeof(pfc))
			continue;
		memcpy(&pfc, attribute.data, sizeof(pfc));
		ret->there = true;
		ret->enabled = pfc.pfc_en;
		memcpy(ret->tx, pfc.requests, sizeof(ret->tx));
		memcpy(ret->rx, pfc.indications, sizeof(ret->rx));
	}
}

int
dcb_pfc_read(
    struct dcb_pfc *ret, const struct counter_kernel *kernel, const char *netdev)
{
	struct request request = {
		.head = { .nlmsg_len = sizeof(request),
		    .nlmsg_type = RTM_GETDCB,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.dcb = { .cmd = DCB_CMD_IEEE_GET },
		.attribute = { NLA_HDRLEN + IFNAMSIZ, DCB_ATTR_IFNAME },
	};
	uint8_t reply[COUNTER_REPLY_BYTES];
	const uint8_t *at = reply;
	struct netlink_reader body;
	uint16_t type;
	size_t len;
	int r;

	*ret = (struct dcb_pfc){ 0 };
	memset(ret->dscps, DCB_NO_PRIORITY, sizeof(ret->dscps));
	if (kernel->netlink == NULL)
		return -EOPNOTSUPP;
	snprintf(request.netdev, sizeof(request.netdev), "%s", netdev);
	r = kernel->netlink(
	    kernel->arg, NETLINK_ROUTE, &request.head, reply, sizeof(reply));
	if (r < 0)
		return r;
	len = (size_t)r;
	while ((r = netlink_message(
		    &at, &len, NLMSG_ALIGN(sizeof(struct dcbmsg)), &type, &body)) > 0) {
		struct netlink_attribute attribute;

		while (netlink_next(&body, &attribute))
			if (attribute.type == DCB_ATTR_IEEE)
				take_ieee(ret, netlink_inside(&attribute));
	}
	if (r < 0)
		ret->there = false;
	return r < 0 ? r : ret->there ? 0 : -EOPNOTSUPP;
}

int
dcb_pfc_find(const struct dcb_pfc *pfc, const char *name)
{
	for (unsigned i = 0; pfc->there && i < sizeof(names) / sizeof(*names); i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(name, names[i], len) == 0)
			return (int)(i * DCB_PRIORITIES) + (name[len] - '0');
	}
	return -ENOENT;
}

uint64_t
dcb_pfc_value(const struct dcb_pfc *pfc, unsigned i)
{
	const unsigned priority = i % DCB_PRIORITIES;

	switch (i / DCB_PRIORITIES) {
	case 0:
		return pfc->rx[priority];
	case 1:
		return pfc->tx[priority];
	default:
		return pfc->enabled >> priority & 1;
	}
}

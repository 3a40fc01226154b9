/*
 * module_optics - the values of a port's optical module: received and transmitted
 * power, bias current, temperature, and the thresholds of its alarms.
 *
 * The bytes are those of SFF-8472 (SFP28), SFF-8636 (QSFP28) and CMIS (QSFP-DD, OSFP,
 * and later ones of other shapes). A module is read over a slow bus: it takes from
 * milliseconds to a second. Copper modules have no such values.
 *
 * Every offset was compared with these (November 2026): SFF-8472: ethtool 6.2 sfpdiag.c
 * (SFF_A0_DOM is 92, with its bits; all of SFF_A2_*); Linux include/linux/sfp.h
 * (SFP_DIAGMON_ADDRMODE is bit 2 of 92); FreeBSD sys/net/sff8472.h (bit 0 of 110 is set
 * until there are data). SFF-8636: ethtool 6.2 qsfp.h (SFF8636_*: 2, 22, 26, 34, 42,
 * 50, 147, 220, and of page 3 128, 178, 182, 194). Byte 113, "Near End Implementation"
 * (SFF-8636 6.2.9), is read by none of these: the meaning of its bits is not confirmed,
 * and it is used only for dark channels. CMIS: ethtool 6.2 cmis.h (2, 3, 14, 16, 210,
 * 212, 160 of page 1, 128, 178, 194 and 198 of page 2, 154, 170 and 186 of page 11h);
 * SONiC sonic_xcvr/mem_maps/public/cmis.py (the same); OIF-CMIS 5.2 tables 8-35
 * (MediaLaneUnsupported, 210) and 8-47 (159 of page 1). Identifiers: Linux
 * include/linux/sfp.h, SFF8024_ID_*, as net/ethtool/module.c groups them.
 */
#ifndef HOST_AGENT_COUNTERS_MODULE_OPTICS_H
#define HOST_AGENT_COUNTERS_MODULE_OPTICS_H

#include <stdbool.h>
#include <stdint.h>

struct counter_kernel;

#define MODULE_LANES 8
#define MODULE_PAGE_BYTES 128

enum module_value {
	/* received power of each lane, in nanowatts; the next value likewise, for sent
	   power */
	MODULE_RX_NW,
	MODULE_TX_NW = MODULE_RX_NW + MODULE_LANES,
	MODULE_BIAS_UA = MODULE_TX_NW + MODULE_LANES, /* microamperes */
	MODULE_RX_LOWEST_NW = MODULE_BIAS_UA + MODULE_LANES,
	MODULE_RX_HIGHEST_NW,
	MODULE_TX_LOWEST_NW,
	MODULE_CELSIUS, /* below 0 is 0 */
	MODULE_MILLIVOLTS,
	/* The module's own thresholds. */
	MODULE_RX_LOW_ALARM_NW,
	MODULE_RX_LOW_WARNING_NW,
	MODULE_TX_LOW_ALARM_NW,
	MODULE_HIGH_ALARM_CELSIUS,
	MODULE_VALUES,
};

struct module_optics {
	bool there[MODULE_VALUES];
	uint64_t value[MODULE_VALUES];
};

/* name: as in the table of counters: "rx_nw_3", "celsius". Returns the index of the
 * value, or -ENOENT. */
int module_optics_find(const char *name);

/* Reads half of a module's memory, MODULE_PAGE_BYTES, into ret: the lower half (upper:
 * false), or one page of the upper half. Returns 0 or -errno. */
typedef int module_page_fn(
    void *arg, uint8_t bus_address, uint8_t page, bool upper, uint8_t *ret);

/* On failure *ret is empty. -ENODEV: the module measures no light; -EAGAIN: the module
 * is not ready; -EPROTONOSUPPORT: an unknown kind of module; or the error that `page`
 * has returned. */
int module_optics_decode(struct module_optics *ret, module_page_fn *page, void *arg);

/* The same for the module of a network device, which ethtool reads over netlink (Linux
 * 5.13). -EPERM: the process needs CAP_NET_ADMIN; -EOPNOTSUPP: there is no module, or
 * the driver does not show it; and the errors above. */
int module_optics_read(
    struct module_optics *ret, const struct counter_kernel *kernel, const char *netdev);

#endif

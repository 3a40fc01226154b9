#include "host-agent/counters/module_optics.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/kernel/counter_kernel.h"
#include "host-agent/kernel/ethtool_netlink.h"
#include "host-agent/kernel/netlink_reply.h"

int
module_optics_find(const char *name)
{
	static const struct {
		const char *name;
		uint8_t value;
		bool of_lane;
	} names[] = {
		{ "rx_nw_", MODULE_RX_NW, true },
		{ "tx_nw_", MODULE_TX_NW, true },
		{ "bias_ua_", MODULE_BIAS_UA, true },
		{ "rx_lowest_nw", MODULE_RX_LOWEST_NW, false },
		{ "rx_highest_nw", MODULE_RX_HIGHEST_NW, false },
		{ "tx_lowest_nw", MODULE_TX_LOWEST_NW, false },
		{ "celsius", MODULE_CELSIUS, false },
		{ "millivolts", MODULE_MILLIVOLTS, false },
		{ "rx_low_alarm_nw", MODULE_RX_LOW_ALARM_NW, false },
		{ "rx_low_warning_nw", MODULE_RX_LOW_WARNING_NW, false },
		{ "tx_low_alarm_nw", MODULE_TX_LOW_ALARM_NW, false },
		{ "high_alarm_celsius", MODULE_HIGH_ALARM_CELSIUS, false },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = strlen(names[i].name);

		if (!names[i].of_lane && strcmp(name, names[i].name) == 0)
			return names[i].value;
		if (names[i].of_lane && strncmp(name, names[i].name, len) == 0 &&
		    name[len] >= '0' && name[len] < '0' + MODULE_LANES &&
		    name[len + 1] == '\0')
			return names[i].value + (name[len] - '0');
	}
	return -ENOENT;
}

/* ---- decoding the bytes ---- */

#define BUS_MODULE 0x50
#define BUS_DIAGNOSTICS 0x51 /* of SFF-8472 */

/* Offsets are those of the standards; an upper half begins at 128. */
#define UPPER(offset) ((offset)-MODULE_PAGE_BYTES)

enum kind { KIND_UNKNOWN, KIND_SFF8472, KIND_SFF8636, KIND_CMIS };

/* Returns the kind of module, by the identifier of SFF-8024. */
static enum kind
kind_of(uint8_t identifier)
{
	switch (identifier) {
	case 0x03: /* SFP, SFP+, SFP28 */
	case 0x0b: /* DWDM-SFP */
		return KIND_SFF8472;
	case 0x0c: /* QSFP */
	case 0x0d: /* QSFP+ */
	case 0x11: /* QSFP28 */
		return KIND_SFF8636;
	case 0x18: /* QSFP-DD */
	case 0x19: /* OSFP */
	case 0x1b: /* DSFP */
	case 0x1e: /* QSFP+ or later, with CMIS, as the next two identifiers */
	case 0x1f: /* SFP-DD */
	case 0x20: /* SFP+ */
		return KIND_CMIS;
	default:
		return KIND_UNKNOWN;
	}
}

static uint64_t
read_u16(const uint8_t *at)
{
	return (uint64_t)at[0] << 8 | at[1];
}

static void
put(struct module_optics *optics, unsigned at, uint64_t value)
{
	optics->there[at] = true;
	optics->value[at] = value;
}

/* The value is in units of 0.1 uW. */
static void
put_power(struct module_optics *optics, unsigned at, const uint8_t *bytes)
{
	put(optics, at, read_u16(bytes) * 100);
}

/* The value is signed, in units of 1/256 degrees. */
static void
put_celsius(struct module_optics *optics, unsigned at, const uint8_t *bytes)
{
	const uint64_t value = read_u16(bytes);

	put(optics, at, value >= 0x8000 ? 0 : (value + 128) / 256);
}

/* Modules without thresholds have zeros in place of these. */
static void
put_threshold(struct module_optics *optics, unsigned at, const uint8_t *bytes)
{
	if (read_u16(bytes) == 0)
		return;
	if (at == MODULE_HIGH_ALARM_CELSIUS)
		put_celsius(optics, at, bytes);
	else
		put_power(optics, at, bytes);
}

static void
put_lanes(struct module_optics *optics, unsigned first, const uint8_t *bytes,
    unsigned without, unsigned lanes, unsigned bias_ua)
{
	for (unsigned i = 0; i < lanes; i++) {
		if ((without & 1u << i) != 0)
			continue;
		if (bias_ua == 0)
			put_power(optics, first + i, bytes + (size_t)2 * i);
		else
			put(optics, first + i,
			    read_u16(bytes + (size_t)2 * i) * bias_ua);
	}
}

static int
decode_sff8472(struct module_optics *ret, const uint8_t lower[MODULE_PAGE_BYTES],
    module_page_fn *page, void *arg)
{
	const uint8_t monitoring = lower[92];
	uint8_t own[MODULE_PAGE_BYTES];
	int r;

	/* Values are read only if the module has monitors and calibrates them itself:
	 * values with external calibration are left out, and so are modules that need a
	 * special sequence before they show their monitors at that address. */
	if ((monitoring & 0x40) == 0 || (monitoring & 0x20) == 0 ||
	    (monitoring & 0x04) != 0)
		return -ENODATA;
	r = page(arg, BUS_DIAGNOSTICS, 0, false, own);
	if (r < 0)
		return r;
	if ((own[110] & 0x01) != 0) /* not ready */
		return -EAGAIN;
	put_celsius(ret, MODULE_CELSIUS, own + 96);
	put(ret, MODULE_MILLIVOLTS, read_u16(own + 98) / 10);
	put_lanes(ret, MODULE_BIAS_UA, own + 100, 0, 1, 2);
	put_lanes(ret, MODULE_TX_NW, own + 102, 0, 1, 0);
	put_lanes(ret, MODULE_RX_NW, own + 104, 0, 1, 0);
	put_threshold(ret, MODULE_HIGH_ALARM_CELSIUS, own + 0);
	put_threshold(ret, MODULE_TX_LOW_ALARM_NW, own + 26);
	put_threshold(ret, MODULE_RX_LOW_ALARM_NW, own + 34);
	put_threshold(ret, MODULE_RX_LOW_WARNING_NW, own + 38);
	return 0;
}

#define QSFP_LANES 4
#define NOISE_NW 5000 /* nanowatts: receivers show that much without any light */

/* Returns a bit for each channel that the module does not have; bit 0 is the first
 * channel. Byte 113 has such bits, which some modules, and some other programs, have
 * inverted. So a channel that receives light counts as present, whatever its bit is. */
static unsigned
channels_without(const uint8_t lower[MODULE_PAGE_BYTES])
{
	unsigned without = lower[113] & 0x0f;

	for (unsigned i = 0; i < QSFP_LANES; i++)
		if (read_u16(lower + 34 + (size_t)2 * i) * 100 >= NOISE_NW)
			without &= ~(1u << i);
	return without;
}

static int
decode_sff8636(struct module_optics *ret, const uint8_t lower[MODULE_PAGE_BYTES],
    module_page_fn *page, void *arg)
{
	const unsigned without = channels_without(lower);
	uint8_t upper[MODULE_PAGE_BYTES];
	int r = page(arg, BUS_MODULE, 0, true, upper);

	if (r < 0)
		return r;
	if (upper[UPPER(147)] >> 4 >= 0xa) /* copper */
		return -ENODATA;
	if ((lower[2] & 0x01) != 0) /* not ready */
		return -EAGAIN;
	put_celsius(ret, MODULE_CELSIUS, lower + 22);
	put(ret, MODULE_MILLIVOLTS, read_u16(lower + 26) / 10);
	put_lanes(ret, MODULE_RX_NW, lower + 34, without, QSFP_LANES, 0);
	put_lanes(ret, MODULE_BIAS_UA, lower + 42, without, QSFP_LANES, 2);
	/* the module measures the power that it transmits */
	if ((upper[UPPER(220)] & 0x04) != 0)
		put_lanes(ret, MODULE_TX_NW, lower + 50, without, QSFP_LANES, 0);
	/* The module is paged: page 3 has the thresholds. */
	if ((lower[2] & 0x04) == 0 && page(arg, BUS_MODULE, 3, true, upper) == 0) {
		put_threshold(ret, MODULE_HIGH_ALARM_CELSIUS, upper + UPPER(128));
		put_threshold(ret, MODULE_RX_LOW_ALARM_NW, upper + UPPER(178));
		put_threshold(ret, MODULE_RX_LOW_WARNING_NW, upper + UPPER(182));
		put_threshold(ret, MODULE_TX_LOW_ALARM_NW, upper + UPPER(194));
	}
	return 0;
}

#define CMIS_READY 3

/* has: contents of page 1, which shows which monitors exist. Page 17 has the monitors
 * of the lanes. */
static int
decode_cmis_lanes(struct module_optics *ret, const uint8_t has[MODULE_PAGE_BYTES],
    unsigned without, module_page_fn *page, void *arg)
{
	static const uint8_t factors[] = { 1, 2, 4, 0 };
	uint8_t lanes[MODULE_PAGE_BYTES];
	unsigned factor;
	int r = page(arg, BUS_MODULE, 17, true, lanes);

	if (r < 0)
		return r;
	factor = factors[has[UPPER(160)] >> 3 & 3];
	if ((has[UPPER(160)] & 0x01) != 0 && factor != 0)
		put_lanes(ret, MODULE_BIAS_UA, lanes + UPPER(170), without,
		    MODULE_LANES, 2 * factor);
	if ((has[UPPER(160)] & 0x02) != 0)
		put_lanes(
		    ret, MODULE_TX_NW, lanes + UPPER(154), without, MODULE_LANES, 0);
	if ((has[UPPER(160)] & 0x04) != 0)
		put_lanes(
		    ret, MODULE_RX_NW, lanes + UPPER(186), without, MODULE_LANES, 0);
	return 0;
}

static int
decode_cmis(struct module_optics *ret, const uint8_t lower[MODULE_PAGE_BYTES],
    module_page_fn *page, void *arg)
{
	const bool flat = (lower[2] & 0x80) != 0;
	uint8_t upper[MODULE_PAGE_BYTES], has[MODULE_PAGE_BYTES];
	unsigned technology;
	int r = page(arg, BUS_MODULE, 0, true, upper);

	if (r < 0)
		return r;
	technology = upper[UPPER(212)];
	if (flat || (technology >= 0x0a && technology <= 0x0f)) /* copper */
		return -ENODATA;
	if ((lower[3] >> 1 & 7) != CMIS_READY)
		return -EAGAIN;
	r = page(arg, BUS_MODULE, 1, true, has);
	if (r == 0)
		r = decode_cmis_lanes(ret, has, upper[UPPER(210)], page, arg);
	if (r < 0)
		return r;
	if ((has[UPPER(159)] & 0x01) != 0)
		put_celsius(ret, MODULE_CELSIUS, lower + 14);
	if ((has[UPPER(159)] & 0x02) != 0)
		put(ret, MODULE_MILLIVOLTS, read_u16(lower + 16) / 10);
	if (page(arg, BUS_MODULE, 2, true, upper) == 0) {
		put_threshold(ret, MODULE_HIGH_ALARM_CELSIUS, upper + UPPER(128));
		put_threshold(ret, MODULE_TX_LOW_ALARM_NW, upper + UPPER(178));
		put_threshold(ret, MODULE_RX_LOW_ALARM_NW, upper + UPPER(194));
		put_threshold(ret, MODULE_RX_LOW_WARNING_NW, upper + UPPER(198));
	}
	return 0;
}

/* Stores the largest or smallest value of the lanes that exist. */
static void
put_extreme(struct module_optics *optics, unsigned at, unsigned first, bool highest)
{
	for (unsigned i = first; i < first + MODULE_LANES; i++) {
		const uint64_t value = optics->value[i];

		if (optics->there[i] &&
		    (!optics->there[at] || (highest ? value > optics->value[at]
						    : value < optics->value[at])))
			put(optics, at, value);
	}
}

int
module_optics_decode(struct module_optics *ret, module_page_fn *page, void *arg)
{
	uint8_t lower[MODULE_PAGE_BYTES];
	int r;

	*ret = (struct module_optics){ 0 };
	r = page(arg, BUS_MODULE, 0, false, lower);
	if (r < 0)
		return r;
	switch (kind_of(lower[0])) {
	case KIND_SFF8472:
		r = decode_sff8472(ret, lower, page, arg);
		break;
	case KIND_SFF8636:
		r = decode_sff8636(ret, lower, page, arg);
		break;
	case KIND_CMIS:
		r = decode_cmis(ret, lower, page, arg);
		break;
	case KIND_UNKNOWN:
		r = -EPROTONOSUPPORT;
		break;
	}
	if (r < 0) {
		*ret = (struct module_optics){ 0 };
		return r;
	}
	put_extreme(ret, MODULE_RX_LOWEST_NW, MODULE_RX_NW, false);
	put_extreme(ret, MODULE_RX_HIGHEST_NW, MODULE_RX_NW, true);
	put_extreme(ret, MODULE_TX_LOWEST_NW, MODULE_TX_NW, false);
	return 0;
}

/* ---- reading the bytes ---- */

#define PAGE_REPLY_BYTES 1024

struct asking {
	const struct counter_kernel *kernel;
	const char *netdev;
	uint16_t family;
};

static int
ask_page(void *arg, uint8_t bus_address, uint8_t page, bool upper, uint8_t *ret)
{
	const struct asking *asking = arg;
	struct ethtool_question question;
	struct netlink_attribute attribute;
	uint8_t reply[PAGE_REPLY_BYTES];
	struct netlink_reader body;
	int r;

	ethtool_begin(&question, ETHTOOL_MSG_MODULE_EEPROM_GET,
	    ETHTOOL_A_MODULE_EEPROM_HEADER, asking->netdev, 0);
	ethtool_add_u32(
	    &question, ETHTOOL_A_MODULE_EEPROM_OFFSET, upper ? MODULE_PAGE_BYTES : 0);
	ethtool_add_u32(&question, ETHTOOL_A_MODULE_EEPROM_LENGTH, MODULE_PAGE_BYTES);
	ethtool_add_u8(&question, ETHTOOL_A_MODULE_EEPROM_PAGE, page);
	ethtool_add_u8(&question, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
	ethtool_add_u8(&question, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, bus_address);
	r = ethtool_ask(
	    asking->kernel, &question, asking->family, reply, sizeof(reply), &body);
	while (r == 0 && netlink_next(&body, &attribute)) {
		if (attribute.type != ETHTOOL_A_MODULE_EEPROM_DATA)
			continue;
		if (attribute.len != MODULE_PAGE_BYTES)
			return -EBADMSG;
		memcpy(ret, attribute.data, MODULE_PAGE_BYTES);
		return 0;
	}
	return r < 0 ? r : -EBADMSG;
}

int
module_optics_read(
    struct module_optics *ret, const struct counter_kernel *kernel, const char *netdev)
{
	struct asking asking = { .kernel = kernel, .netdev = netdev };
	int r = ethtool_family(kernel, &asking.family);

	*ret = (struct module_optics){ 0 };
	return r < 0 ? r : module_optics_decode(ret, ask_page, &asking);
}

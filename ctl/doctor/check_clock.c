/* Checks that the clock is synchronized: certificates and points in the history depend
 * on it. */
#include <errno.h>
#include <string.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"

#define MAX_ERROR_US 1000000L

void
check_clock(const struct host *host, struct findings *findings)
{
	const struct timex *clock = &host->clock;

	if (host->clock_state < 0) {
		findings_add(findings, FINDING_WARNING,
		    "the kernel's clock state cannot "
		    "be read: %s",
		    strerror(-host->clock_state));
		findings_remedy(
		    findings, "timedatectl shows whether the clock is synchronised");
		return;
	}
	if (host->clock_state == TIME_ERROR || (clock->status & STA_UNSYNC) != 0) {
		findings_add(findings, FINDING_WARNING,
		    "the clock is not synchronised (it may be off by %ld ms or more)",
		    clock->maxerror / 1000);
		findings_remedy(findings,
		    "run chrony or systemd-timesyncd (timedatectl set-ntp true): "
		    "certificates and the history depend on the clock");
		return;
	}
	findings_add(findings,
	    clock->maxerror > MAX_ERROR_US ? FINDING_WARNING : FINDING_GOOD,
	    "the clock is synchronised, off by at most %ld.%03ld ms; TAI is %d s "
	    "ahead%s",
	    clock->maxerror / 1000, clock->maxerror % 1000, clock->tai,
	    clock->tai == 0 ? " (not set; Rackmesh does not need it)" : "");
	if (clock->maxerror > MAX_ERROR_US)
		findings_remedy(findings, "chronyc tracking, or timedatectl "
					  "timesync-status, shows its source");
}

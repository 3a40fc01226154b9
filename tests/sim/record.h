/*
 * record - writes what the aggregators of a run receive, so that it can be judged again
 * (replay.h). README.md has the format: plain lines, which any program that sees real
 * frames can write, too.
 */
#ifndef TESTS_SIM_RECORD_H
#define TESTS_SIM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_FIRST_LINE "rackmesh-recording 1"

struct run;
struct sim_lane;
struct sim_rack;

/* All functions do nothing in a run that is not recorded. A failed write shows in the
 * stream's error. */
void record_begin(const struct run *run); /* Call it when racks have their plans. */
void record_frame(const struct sim_rack *rack, const struct sim_lane *lane,
    const uint8_t *data, size_t len, int64_t now_ns);
void record_ended(
    const struct sim_rack *rack, const struct sim_lane *lane, int64_t now_ns);
void record_kernel(const struct sim_rack *rack, const struct sim_lane *lane,
    bool answers, int64_t now_ns);
/* The rack's aggregator starts, or has ended. */
void record_life(const struct sim_rack *rack, bool begins, int64_t now_ns);
void record_end(const struct run *run);

#endif

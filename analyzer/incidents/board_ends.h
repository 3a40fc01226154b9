/*
 * board_ends - tells the judgement over racks which RNICs and hosts their own racks
 * hold bad now, as the board has it. Pure.
 *
 * The board is the one that knows: an incident changes its kind, is told by several
 * aggregators, and goes on while an analyzer has left the region.
 */
#ifndef ANALYZER_INCIDENTS_BOARD_ENDS_H
#define ANALYZER_INCIDENTS_BOARD_ENDS_H

struct board;
struct localise;

void board_ends_tell(
    const struct board *board, const char *region, struct localise *localise);

#endif

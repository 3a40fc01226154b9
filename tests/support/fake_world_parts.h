/* What the parts of fake_world know of each other; nobody else's business. */
#ifndef TESTS_SUPPORT_FAKE_WORLD_PARTS_H
#define TESTS_SUPPORT_FAKE_WORLD_PARTS_H

#include "tests/support/fake_world.h"

void fake_links_begin(void);
void fake_links_turn(void);
void fake_links_end(void); /* aborts if there are any */
void fake_http_end(void);  /* the same, as below */
void fake_client_end(void);

#endif

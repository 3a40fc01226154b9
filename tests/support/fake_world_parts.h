/* Declarations that the parts of fake_world share. Include it in these files only. */
#ifndef TESTS_SUPPORT_FAKE_WORLD_PARTS_H
#define TESTS_SUPPORT_FAKE_WORLD_PARTS_H

#include "tests/support/fake_world.h"

void fake_links_begin(void);
void fake_links_turn(void);
void fake_links_end(void);  /* aborts if any object is left */
void fake_http_end(void);   /* aborts if the server is left */
void fake_client_end(void); /* aborts if the client or a call is left */

#endif

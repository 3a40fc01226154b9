#include "rackmesh/base/netns.h"

#include "rackmesh/base/clock.h"

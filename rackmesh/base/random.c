#include "rackmesh/base/random.h"

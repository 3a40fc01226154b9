#include "rackmesh/base/metrics.h"

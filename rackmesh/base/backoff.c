#include "rackmesh/base/backoff.h"

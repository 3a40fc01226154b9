#include "rackmesh/base/worker.h"

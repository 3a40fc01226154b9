#include "rackmesh/base/queue.h"

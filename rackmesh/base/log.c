#include "rackmesh/base/log.h"

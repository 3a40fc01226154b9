#include "rackmesh/base/config.h"

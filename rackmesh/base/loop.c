#include "rackmesh/base/loop.h"

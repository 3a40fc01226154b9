#include "rackmesh/base/sketch.h"

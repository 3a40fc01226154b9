#include "rackmesh/base/why.h"

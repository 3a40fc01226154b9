#include "rackmesh/base/link.h"

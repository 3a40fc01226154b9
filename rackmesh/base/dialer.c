#include "rackmesh/base/dialer.h"

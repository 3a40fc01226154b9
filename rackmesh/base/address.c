#include "rackmesh/base/address.h"

#include "rackmesh/base/line_protocol.h"

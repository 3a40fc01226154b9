#include "rackmesh/base/frame.h"

#include "rackmesh/base/listener.h"

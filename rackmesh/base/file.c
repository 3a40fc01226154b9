#include "rackmesh/base/file.h"

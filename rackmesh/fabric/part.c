#include "rackmesh/fabric/part.h"

#include "rackmesh/fabric/alert.h"

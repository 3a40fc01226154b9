#include "rackmesh/fabric/verdict.h"

#include "rackmesh/fabric/incident.h"

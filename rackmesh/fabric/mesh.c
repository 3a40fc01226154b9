#include "rackmesh/fabric/mesh.h"

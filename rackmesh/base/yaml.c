#include "rackmesh/base/yaml.h"

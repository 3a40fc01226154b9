#include "rackmesh/base/http_server.h"

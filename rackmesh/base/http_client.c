#include "rackmesh/base/http_client.h"

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fields of a message a proxy passes on. Those that are about one connection end there (RFC 9110 section 7.6.1): the known ones and those
 * that Connection names; the framing and the host are said anew; what is meant for the proxy is not for the server.
 */
#pragma once

#include "http/head.h"

bool hop_passes(const struct http_head *h, const struct http_field *f);

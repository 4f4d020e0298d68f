/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems whose files the kernel makes up. Some of these look at who reads or writes, and not only at who has opened: who has
 * more rights than whoever opened it for him must not touch such a file.
 */
#pragma once

#include <stdbool.h>

/* Also when the kernel does not say. */
bool kernel_fs(int fd);

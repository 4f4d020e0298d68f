/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault NUMBER[@FIRST]=ERRNO[,...] COMMAND [ARGUMENT...]: runs the command on a kernel that answers these system calls (@: when
 * their first argument has that value) with that error. What creel then builds must be the same sandbox, or none.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAULTS_MAX 32

int main(int argc, char **argv)
{
	struct sock_filter code[5 * FAULTS_MAX + 2] = { { BPF_LD | BPF_W | BPF_ABS, 0, 0,
							  offsetof(struct seccomp_data, nr) } };
	struct sock_fprog prog = { 1, code };
	char *word, *rest;

	if (argc < 3)
		return 99;
	for (word = strtok_r(argv[1], ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(word, '='), *at = strchr(word, '@');

		if (!equals || prog.len > 5 * FAULTS_MAX - 4)
			return 99;
		code[prog.len++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 0, at ? 4 : 1,
							 (uint32_t)strtoul(word, NULL, 10) };
		if (at) {
			code[prog.len++] = (struct sock_filter){ BPF_LD | BPF_W | BPF_ABS, 0, 0,
								 offsetof(struct seccomp_data, args) };
			code[prog.len++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 0, 1,
								 (uint32_t)strtoul(at + 1, NULL, 0) };
		}
		code[prog.len++] =
			(struct sock_filter){ BPF_RET | BPF_K, 0, 0,
					      SECCOMP_RET_ERRNO | (uint32_t)strtoul(equals + 1, NULL, 10) };
		if (at)
			code[prog.len++] = (struct sock_filter){ BPF_LD | BPF_W | BPF_ABS, 0, 0,
								 offsetof(struct seccomp_data, nr) };
	}
	code[prog.len++] = (struct sock_filter){ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0) {
		perror("seccomp");
		return 99;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 99;
}

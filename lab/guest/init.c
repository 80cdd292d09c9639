/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Process 1 of a guest: mount, load modules, build the topology, run the traffic, power off.
 * The run directory of the host appears as /run/lab, so that a guest never sees a host path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN "/run/lab"
#define START_NS 1000000 /* virtual time since the boot at which every guest begins */
#define SEED "/sys/module/random/parameters/det_rng_seed"
#define NO_MODPROBE "/none" /* the host may have one or not, and what it does takes virtual time */
#define TCP_MEM "5910 7880 11820" /* pages of all sockets; the kernel would derive it from its own size */

static void stop(const char *what)
{
	if (what)
		printf("lab: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mount_at(const char *type, const char *where, const char *options)
{
	if (mount(type, where, type, 0, options) && errno != EBUSY)
		stop(where);
}

/* Reading the clock takes 256 virtual ns, while the kernel boots too: a smaller kernel must not begin earlier. */
static void wait_for_start(void)
{
	struct timespec now;

	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!now.tv_sec && now.tv_nsec < START_NS);
}

static void write_to(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		stop(path);
	close(fd);
}

static void load_modules(void)
{
	static char line[4096];
	FILE *list = fopen(RUN "/modules", "r");
	char *parameters;
	int fd;

	if (!list)
		return;
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = 0;
		parameters = strchr(line, ' ');
		if (parameters)
			*parameters++ = 0;
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, parameters ? parameters : "", 0))
			stop(line);
		close(fd);
	}
	fclose(list);
}

static int run(char *const argv[])
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(void)
{
	char *setup[] = { "/bin/sh", "-e", RUN "/setup.sh", NULL };
	char *traffic[] = { RUN "/traffic", RUN "/plan", RUN "/out", NULL };
	char options[256];
	int code;

	wait_for_start();
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	mount_at("proc", "/proc", NULL);
	write_to("/proc/sys/kernel/modprobe", NO_MODPROBE);
	write_to("/proc/sys/net/ipv4/tcp_mem", TCP_MEM);
	mount_at("sysfs", "/sys", NULL);
	mount_at("tmpfs", "/run", NULL);
	mount_at("tmpfs", "/tmp", NULL);
	mount_at("cgroup2", "/sys/fs/cgroup", NULL);
	mount_at("bpf", "/sys/fs/bpf", NULL);
	mkdir(RUN, 0755);
	if (!getenv("LABDIR") || !getenv("LABSEED"))
		stop("LABDIR or LABSEED is not set on the kernel command line");
	snprintf(options, sizeof(options), "%s", getenv("LABDIR"));
	if (mount("none", RUN, "hostfs", 0, options))
		stop("the run directory");
	load_modules();
	/* What the kernel and its modules drew until here depends on their options. */
	write_to(SEED, getenv("LABSEED"));
	code = run(setup);
	if (code) {
		printf("lab: setup.sh failed with %d\n", code);
		stop(NULL);
	}
	code = run(traffic);
	printf("lab: traffic ended with %d\n", code);
	stop(NULL);
}

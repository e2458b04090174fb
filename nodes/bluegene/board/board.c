/*
 * The board of a diskless node, PID 1 of its container: power and console.
 *
 * Off, it waits for a Wake-on-LAN magic packet on eth0, or for "on" on its service line. On, it runs the
 * firmware as the first process of namespaces of its own (processes, mounts, host name), so that a power
 * cut leaves nothing of what ran. reboot(2) there does what it does on a machine: the kernel ends that
 * first process by SIGHUP for a restart, and by SIGINT for a halt or power-off (kernel: reboot_pid_ns()).
 *
 *   /service/power/NODE     a FIFO: on, off, reset      (at home: the service card)
 *   /service/logs/NODE.log  what the console showed since power-on, with seconds since then
 *   /run/node-state         off, on, or failed: WHY
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ADAPTER "eth0"
#define CONSOLE_LINE 512

static char name[64], log_path[128];
static struct timespec power_on_at;

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fprintf(file, "%s\n", text);
		fclose(file);
	}
}

static void fail(const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), "failed: %s: %s", what, strerror(errno));
	put("/run/node-state", text);
	fprintf(stderr, "board: %s\n", text);
	pause();
	exit(1);
}

/* A line on the console: to the log on the service node, and to the container's own output. */
static void console(const char *line)
{
	struct timespec now;
	double since;
	FILE *log = fopen(log_path, "a");

	clock_gettime(CLOCK_MONOTONIC, &now);
	since = (now.tv_sec - power_on_at.tv_sec) + (now.tv_nsec - power_on_at.tv_nsec) / 1e9;
	printf("[%9.3f] %s\n", since, line);
	fflush(stdout);
	if (log) {
		fprintf(log, "[%9.3f] %s\n", since, line);
		fclose(log);
	}
}

/* What an adapter in standby looks at: WoL frames (EtherType 0842) and UDP to port 9, to its own address
 * or to all. The filter keeps other broadcasts from waking the board, which costs 288 nodes dearly. */
static int listen_in_standby(void)
{
	static struct sock_filter only[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OTHERHOST, 9, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0842, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 6),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 2048),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { sizeof(only) / sizeof(*only), only };
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int line = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	at.sll_ifindex = if_nametoindex(ADAPTER);
	if (line < 0 || setsockopt(line, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    bind(line, (struct sockaddr *)&at, sizeof(at)))
		fail("listening on " ADAPTER);
	return line;
}

/* Whether a frame has, anywhere, six octets FF and then this adapter's address sixteen times. */
static int is_magic(int line)
{
	static unsigned char pattern[6 + 16 * 6];
	unsigned char frame[2048];
	ssize_t length = recv(line, frame, sizeof(frame), MSG_DONTWAIT);

	if (!pattern[0]) {
		struct ifreq request = { .ifr_name = ADAPTER };

		if (ioctl(line, SIOCGIFHWADDR, &request))
			fail("the address of " ADAPTER);
		memset(pattern, 0xff, 6);
		for (int i = 0; i < 16; i++)
			memcpy(pattern + 6 + i * 6, request.ifr_hwaddr.sa_data, 6);
	}
	return length > 0 && memmem(frame, length, pattern, sizeof(pattern)) != NULL;
}

/* Start the firmware; its output comes by *output. */
static pid_t power_on(int *output)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		fail("a console");
	child = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0);
	if (child < 0)
		fail("namespaces for the node");
	if (child == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execl("/bin/busybox", "sh", "/firmware/boot", NULL);
		_exit(127);
	}
	close(ends[1]);
	*output = ends[0];
	return child;
}

static void run(const char *command)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/busybox", "sh", "-c", command, NULL);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}

/* Have the node's NFS mounts fail at once: a process that waits for a lost server would outlive the power
 * cut, and the board with it. (A machine's kernel dies with it; the lab's nodes share one that does not.) */
static void cut_off(pid_t node)
{
	char path[64], line[1024], device[32];
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", node);
	mounts = fopen(path, "r");
	while (mounts && fgets(line, sizeof(line), mounts)) {
		if (!strstr(line, " - nfs4 ") || sscanf(line, "%*d %*d %31s", device) != 1)
			continue;
		snprintf(path, sizeof(path), "/sys/fs/nfs/%s/shutdown", device);
		put(path, "1");
	}
	if (mounts)
		fclose(mounts);
}

enum order { NONE, ON, OFF, RESET };

/* Read the service line; the last of several orders counts. */
static enum order ordered(int power)
{
	static const char *const words[] = { "", "on", "off", "reset" };
	char text[256];
	ssize_t length = read(power, text, sizeof(text) - 1);
	enum order last = NONE;

	text[length > 0 ? length : 0] = 0;
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
		for (enum order order = ON; order <= RESET; order++)
			if (!strcmp(word, words[order]))
				last = order;
	return last;
}

/* Pass on whole lines of what the node printed; 0 at the end of all output. */
static int print(int output)
{
	static char line[CONSOLE_LINE];
	static size_t filled;
	char piece[4096];
	ssize_t got = read(output, piece, sizeof(piece));

	for (ssize_t i = 0; i < got; i++) {
		if (piece[i] != '\n')
			line[filled++] = piece[i];
		if (piece[i] == '\n' || filled == sizeof(line) - 1) {
			line[filled] = 0;
			filled = 0;
			console(line);
		}
	}
	return got > 0;
}

/* Reap what has ended; returns whether the node's first process was among it, and its status.
 * The lab's end is a SIGTERM: the board goes, and takes everything with it. */
static int has_ended(int signals, pid_t node, int *status)
{
	struct signalfd_siginfo signal;
	int ended = 0, its;
	pid_t pid;

	while (read(signals, &signal, sizeof(signal)) > 0)
		if (signal.ssi_signo == SIGTERM)
			exit(0);
	while ((pid = waitpid(-1, &its, WNOHANG)) > 0) {
		if (pid == node) {
			*status = its;
			ended = 1;
		}
	}
	return ended;
}

/* One life of the node, from power-on until it is off; returns whether it is to start again. */
static int live(int power, int signals)
{
	enum order given = NONE;
	int output, open_line, status = 0, alive = 1;
	pid_t node;

	clock_gettime(CLOCK_MONOTONIC, &power_on_at);
	unlink(log_path);
	console("power on");
	node = power_on(&output);
	open_line = output;
	put("/run/node-state", "on");
	while (alive) {
		struct pollfd watched[] = { { power, POLLIN, 0 }, { open_line, POLLIN, 0 }, { signals, POLLIN, 0 } };

		poll(watched, 3, -1);
		if (watched[0].revents) {
			enum order now = ordered(power);

			if (now == OFF || now == RESET) {
				given = now;
				cut_off(node);
				kill(node, SIGKILL);
			}
		}
		if (watched[1].revents && !print(output))
			open_line = -1; /* poll() passes over it */
		if (watched[2].revents)
			alive = !has_ended(signals, node, &status);
	}
	fcntl(output, F_SETFL, O_NONBLOCK);
	while (print(output))
		;
	close(output);
	if (given == NONE && WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP)
		given = RESET;
	else if (given == NONE && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT))
		console("panic: the first process has ended");
	run("while read -r device _; do ip addr flush dev $device; ip neigh flush dev $device; done </site/ports");
	return given == RESET;
}

int main(void)
{
	char path[128];
	sigset_t watched;
	int power, signals, standby, none;

	gethostname(name, sizeof(name) - 1);
	snprintf(log_path, sizeof(log_path), "/service/logs/%s.log", name);
	snprintf(path, sizeof(path), "/service/power/%s", name);
	unlink(path);
	if (mkfifo(path, 0600) || (power = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
		fail(path);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigprocmask(SIG_BLOCK, &watched, NULL);
	signals = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
	standby = listen_in_standby();
	for (;;) {
		int on = 0;

		put("/run/node-state", "off");
		while (!on) {
			struct pollfd lines[] = { { power, POLLIN, 0 }, { standby, POLLIN, 0 }, { signals, POLLIN, 0 } };

			poll(lines, 3, -1);
			if (lines[2].revents)
				has_ended(signals, 0, &none);
			on = (lines[1].revents && is_magic(standby)) || (lines[0].revents && ordered(power) == ON);
		}
		close(standby);
		while (live(power, signals))
			console("reset");
		/* who reads that the power is off may wake the node at once */
		standby = listen_in_standby();
		console("power off");
	}
}

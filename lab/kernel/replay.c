// SPDX-License-Identifier: GPL-2.0
/*
 * A test's module: replays recorded steps (algorithms/host/replay.h) through the cores as the guest's kernel compiles them.
 * Reads struct nn_replay records from `from`, writes them with windows and rates filled in to `to`.
 */
#include <linux/fs.h>
#include <linux/module.h>

#include "host/replay.h"

static u32 table[NN_ALGORITHM_COUNT][NN_PARAM_COUNT] = NN_PARAM_ROWS;
static struct nn_replay_host hosts[NN_ALGORITHM_COUNT];
static char *from = "/run/lab/replay.in";
static char *to = "/run/lab/out/replay.out";
module_param(from, charp, 0444);
MODULE_PARM_DESC(from, "file of records");
module_param(to, charp, 0444);
MODULE_PARM_DESC(to, "file of answers");

static int __init replay_init(void)
{
	struct file *in = filp_open(from, O_RDONLY, 0), *out;
	struct nn_replay step;
	loff_t read_at = 0, write_at = 0;
	ssize_t n;

	if (IS_ERR(in))
		return PTR_ERR(in);
	out = filp_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (IS_ERR(out)) {
		filp_close(in, NULL);
		return PTR_ERR(out);
	}
	while ((n = kernel_read(in, &step, sizeof(step), &read_at)) == sizeof(step)) {
		if (step.algorithm >= NN_ALGORITHM_COUNT) {
			n = -EINVAL;
			break;
		}
		nn_replay(&hosts[step.algorithm], table[step.algorithm], &step);
		n = kernel_write(out, &step, sizeof(step), &write_at);
		if (n != sizeof(step))
			break;
	}
	filp_close(in, NULL);
	filp_close(out, NULL);
	return n < 0 ? n : 0;
}

static void __exit replay_exit(void)
{
}

module_init(replay_init);
module_exit(replay_exit);
MODULE_DESCRIPTION("replays recorded flows through netnice's cores");
MODULE_LICENSE("GPL");

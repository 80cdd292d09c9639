// SPDX-License-Identifier: GPL-2.0
/*
 * The sender algorithms as a kernel module: see target.h, and ../sender.c for the code. Each algorithm is a parameter
 * of the module, in the words of `netnicectl set`: insmod tcp_netnice.ko netnice=threshold=20,fraction=50
 */
#include <linux/slab.h>

#include "target.h"
#include "../sender.c"

static const struct nn_column {
	const char *name;
	u32 least, most;
} nn_columns[] = {
#define NN_COLUMN(name, unit, least, most, why) { #name, least, most },
	NN_PARAMS(NN_COLUMN)
#undef NN_COLUMN
};

/* `text`: NAME=VALUE */
static int nn_set_one(const char *algorithm, u32 *row, char *text)
{
	const char *name = strsep(&text, "=");
	u32 value;
	int i;

	for (i = 0; i < NN_PARAM_COUNT && strcmp(nn_columns[i].name, name); i++)
		;
	if (i == NN_PARAM_COUNT) {
		pr_err("%s: no parameter '%s'\n", algorithm, name);
		return -EINVAL;
	}
	if (!text || kstrtou32(text, 10, &value) || value < nn_columns[i].least || value > nn_columns[i].most) {
		pr_err("%s: %s takes %u to %u\n", algorithm, name, nn_columns[i].least, nn_columns[i].most);
		return -EINVAL;
	}
	row[i] = value;
	return 0;
}

/* All or nothing: live flows never see the half of a change that was refused. */
static int nn_row_set(const char *text, const struct kernel_param *param)
{
	u32 changed[NN_PARAM_COUNT];
	char *copy, *rest, *one;
	int err = 0;

	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	memcpy(changed, param->arg, sizeof(changed));
	rest = strim(copy);
	while (!err && (one = strsep(&rest, ",")))
		err = nn_set_one(param->name, changed, one);
	if (!err)
		memcpy(param->arg, changed, sizeof(changed));
	kfree(copy);
	return err;
}

static int nn_row_get(char *text, const struct kernel_param *param)
{
	const u32 *row = param->arg;
	int i, length = 0;

	for (i = 0; i < NN_PARAM_COUNT; i++)
		length += scnprintf(text + length, PAGE_SIZE - length, "%s=%u%c", nn_columns[i].name, row[i],
				    i == NN_PARAM_COUNT - 1 ? '\n' : ',');
	return length;
}

static const struct kernel_param_ops nn_row_ops = { .set = nn_row_set, .get = nn_row_get };

#define NN_ROW(name, ...)                                                                                              \
	module_param_cb(name, &nn_row_ops, nn_params_table[NN_A_##name], 0644);                                        \
	MODULE_PARM_DESC(name, "PARAMETER=VALUE,... of " #name ": NN_PARAMS in algorithms/common/params.h");

NN_ALGORITHMS(NN_ROW)
#undef NN_ROW

static struct tcp_congestion_ops *nn_all[] = {
#define NN_OPS_POINTER(name, ...) &name##_ops,
	NN_ALGORITHMS(NN_OPS_POINTER)
#undef NN_OPS_POINTER
};

static void nn_unregister(int count)
{
	while (count--)
		tcp_unregister_congestion_control(nn_all[count]);
}

static int __init nn_module_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(nn_all); i++) {
		err = tcp_register_congestion_control(nn_all[i]);
		if (err) {
			nn_unregister(i);
			return err;
		}
	}
	return 0;
}

static void __exit nn_module_exit(void)
{
	nn_unregister(ARRAY_SIZE(nn_all));
}

module_init(nn_module_init);
module_exit(nn_module_exit);
MODULE_DESCRIPTION("netnice: TCP senders that take only what nobody else on the path wants");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/* The sender algorithms as a kernel module: see target.h, and ../sender.c for the code. */
#include "target.h"
#include "../sender.c"

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

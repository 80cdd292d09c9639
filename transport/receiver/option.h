/* SPDX-License-Identifier: GPL-2.0 */
/* The socket option by which an application, or `netnice -p`, has a connection yield with what it receives. */
#ifndef NN_OPTION_H
#define NN_OPTION_H

#define NETNICE_RECEIVE 0x6e6e /* of level IPPROTO_TCP; an int: 1 begins, 0 stops */

#endif

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sender.h"

#include <cstdlib>
#include <new>

using namespace ns3;

namespace
{
constexpr u32 BURST = 2; /* segments that leave together: Linux's least burst */

u32 Microseconds(Time time)
{
	return static_cast<u32>(time.GetMicroSeconds());
}
} // namespace

Sender::Sender(int row) : m_core(nn_core_new(row))
{
	if (!m_core)
		throw std::bad_alloc();
}

Sender::~Sender()
{
	std::free(m_core);
}

u32 Sender::CoreWindow() const
{
	return nn_core_window(m_core);
}

uint32_t Sender::Threshold() const
{
	return nn_core_ssthresh(m_core) * m_tcb->m_segmentSize;
}

nn_ack Sender::Facts() const
{
	nn_ack ack = {};
	Time ahead = m_deadline - Simulator::Now();

	ack.now_us = Microseconds(Simulator::Now());
	ack.delivered = m_delivered;
	ack.sent_delivered = m_delivered;
	ack.in_flight = (BytesInFlight() + m_tcb->m_segmentSize - 1) / m_tcb->m_segmentSize;
	ack.mss = m_tcb->m_segmentSize;
	ack.held_us = ahead.IsStrictlyPositive() ? Microseconds(ahead) : 0;
	ack.peer_stamp = m_tcb->m_rcvTimestampValue;
	return ack;
}

void Sender::Apply(const nn_send &send)
{
	m_tcb->m_cWnd = send.cwnd * m_tcb->m_segmentSize;
	m_rate = send.rate;
	m_haste = send.now;
}

void Sender::State(TcpSocketState::TcpCongState_t state)
{
	if (nn_core_started(m_core)) {
		nn_core_recovery(m_core,
				 state == TcpSocketState::CA_LOSS  ? NN_TIMEOUT
				 : state >= TcpSocketState::CA_CWR ? NN_REDUCED
								   : NN_OPEN,
				 Microseconds(Simulator::Now()), m_delivered);
	} else {
		nn_ack first = Facts();
		nn_send send;

		nn_core_start(m_core, &first, Microseconds(m_tcb->m_lastRtt), &send);
		Apply(send);
	}
}

void Sender::Wake()
{
	nn_core_restart(m_core, Microseconds(Simulator::Now()), m_delivered);
}

void Sender::Sample(Stamp &stamp)
{
	if (stamp.spent)
		return;
	m_rtt = std::max(Microseconds(Simulator::Now() - stamp.at), 1u);
	stamp.spent = true;
}

/* Before ns-3 acts on the ACK: the RTT of the newest segment that it acknowledges, by SACK or cumulatively. */
void Sender::ReceivedAck(Ptr<Packet> packet, const TcpHeader &header)
{
	m_rtt = 0;
	while (!m_stamps.empty() && m_stamps.front().end <= header.GetAckNumber()) {
		Sample(m_stamps.front());
		m_stamps.pop_front();
	}
	if (header.HasOption(TcpOption::SACK)) {
		SequenceNumber32 newest = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK))
						  ->GetSackList()
						  .front()
						  .second;

		for (Stamp &stamp : m_stamps)
			if (stamp.end == newest)
				Sample(stamp);
	}
	TcpSocketBase::ReceivedAck(packet, header);
}

void Sender::Acked(const TcpRateOps::TcpRateConnection &connection, const TcpRateOps::TcpRateSample &sample)
{
	u32 delivered = static_cast<u32>(connection.m_delivered / m_tcb->m_segmentSize);
	nn_ack ack;
	nn_send send;

	if (!nn_core_started(m_core))
		return;
	std::swap(m_delivered, delivered);
	ack = Facts();
	ack.acked = m_delivered - delivered;
	ack.sent_delivered = sample.m_priorDelivered / m_tcb->m_segmentSize;
	ack.rtt_us = m_rtt;
	if (sample.m_isAppLimited)
		ack.flags |= NN_APP_LIMITED;
	if (nn_core_acked(m_core, &ack, &send))
		Apply(send);
}

/* Pacing as Linux does it: a burst at once, the next when its bytes have had their time; delays are half made up for. */
void Sender::Hold(uint32_t bytes)
{
	Time now = Simulator::Now(), time = Seconds(double(bytes) / double(m_rate));

	if (m_burstAt == now && m_burst && m_burst < BURST) {
		m_burst++;
		m_deadline += time;
	} else {
		Time late = m_burst && now > m_deadline ? Min(now - m_deadline, time / 2) : Time(0);

		m_deadline = Max(m_deadline, now) + time - late;
		m_burstAt = now;
		m_burst = 1;
	}
	m_release.Cancel();
	m_release = Simulator::Schedule(m_deadline - now, &Sender::SendPendingData, this, true);
}

uint32_t Sender::AvailableWindow() const
{
	Time now = Simulator::Now();

	if (!m_haste && m_deadline > now && !(m_burstAt == now && m_burst < BURST))
		return 0;
	return TcpSocketBase::AvailableWindow();
}

uint32_t Sender::SendDataPacket(SequenceNumber32 seq, uint32_t most, bool withAck)
{
	bool again = seq < m_tcb->m_highTxMark.Get();
	uint32_t size = TcpSocketBase::SendDataPacket(seq, most, withAck);

	if (!again)
		m_stamps.push_back({ seq + size, Simulator::Now(), false });
	else
		for (Stamp &stamp : m_stamps)
			if (stamp.end > seq && stamp.end <= seq + size)
				stamp.spent = true;
	Hold(size);
	return size;
}

void Sender::NewAck(const SequenceNumber32 &ack, bool resetRto)
{
	TcpSocketBase::NewAck(ack, resetRto);
	if (ack >= m_tcb->m_highTxMark.Get())
		m_retxEvent.Cancel();
}

/* Linux's timer retransmits whatever the deadline. */
void Sender::ReTxTimeout()
{
	m_deadline = Simulator::Now();
	TcpSocketBase::ReTxTimeout();
}

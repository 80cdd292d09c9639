/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sender shim for ns-3: gives a core of algorithms/ an ns-3 TCP socket, as transport/sender/sender.c gives it a
 * Linux one. It translates and decides nothing.
 *
 * Traps of ns-3 3.37 that it avoids:
 * - congestion controls are handed the smoothed RTT; a core needs every sample, so segments are stamped here;
 * - the retransmission timer runs on while nothing is in flight, and a window below one segment then times out;
 * - its pacing sends single segments, and a lone segment's RTT holds the receiver's delayed ACK; here pairs leave
 *   together, as Linux sends them.
 */
#ifndef NN_NS3_SENDER_H
#define NN_NS3_SENDER_H

#include <deque>

#include "ns3/internet-module.h"

#include "core.h"

class Sender : public ns3::TcpSocketBase
{
      public:
	explicit Sender(int row);
	~Sender() override;

	/* What Linux's congestion control operations would be told; called by SenderOps. */
	void State(ns3::TcpSocketState::TcpCongState_t state);
	void Acked(const ns3::TcpRateOps::TcpRateConnection &connection, const ns3::TcpRateOps::TcpRateSample &sample);
	void Wake();
	uint32_t Threshold() const;
	u32 CoreWindow() const;

      protected:
	uint32_t SendDataPacket(ns3::SequenceNumber32 seq, uint32_t most, bool withAck) override;
	uint32_t AvailableWindow() const override;
	void ReceivedAck(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader &header) override;
	void NewAck(const ns3::SequenceNumber32 &ack, bool resetRto) override;
	void ReTxTimeout() override;

      private:
	struct Stamp {
		ns3::SequenceNumber32 end;
		ns3::Time at;
		bool spent; /* sent again (Karn's rule), or its RTT is known already */
	};

	nn_ack Facts() const;
	void Apply(const nn_send &send);
	void Hold(uint32_t bytes);
	void Sample(Stamp &stamp);

	nn_core *m_core;
	bool m_haste = false; /* the core wants to send without regard to the deadline */
	u32 m_delivered = 0; /* segments */
	u32 m_rtt = 0; /* us, of the ACK at hand; 0: none */
	u64 m_rate = ~0ull; /* bytes per second */
	std::deque<Stamp> m_stamps;
	ns3::Time m_deadline; /* no burst leaves before it */
	ns3::Time m_burstAt; /* when the last burst left */
	u32 m_burst = 0; /* its segments */
	ns3::EventId m_release;
};

/* ns-3 takes congestion control by this interface; everything is passed on to the socket. */
class SenderOps : public ns3::TcpCongestionOps
{
      public:
	explicit SenderOps(Sender *sender) : m_sender(sender)
	{
	}
	std::string GetName() const override
	{
		return "netnice";
	}
	bool HasCongControl() const override
	{
		return true;
	}
	uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState>, uint32_t) override
	{
		return m_sender->Threshold();
	}
	void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState>, uint32_t) override
	{
	}
	void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState>, ns3::TcpSocketState::TcpCongState_t state) override
	{
		m_sender->State(state);
	}
	void CwndEvent(ns3::Ptr<ns3::TcpSocketState>, ns3::TcpSocketState::TcpCAEvent_t event) override
	{
		if (event == ns3::TcpSocketState::CA_EVENT_TX_START)
			m_sender->Wake();
	}
	void CongControl(ns3::Ptr<ns3::TcpSocketState>, const ns3::TcpRateOps::TcpRateConnection &connection,
			 const ns3::TcpRateOps::TcpRateSample &sample) override
	{
		m_sender->Acked(connection, sample);
	}
	ns3::Ptr<ns3::TcpCongestionOps> Fork() override
	{
		return nullptr; /* only listening sockets fork */
	}

      private:
	Sender *m_sender;
};

#endif

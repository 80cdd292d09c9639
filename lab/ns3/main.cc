// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * netnice-ns3 PLAN OUT: plays the lab's plan in ns-3, documents and bulk flows over a dumbbell. It writes the tables that a
 * guest of the lab writes. Beside the guest's lines the plan has here:
 *
 *   link RATE RTT MTU PACKETS fifo|priority    the bottleneck: bit/s, us, bytes of an IP packet, buffer
 *   window HOST SEGMENTS                       a host's first window, if not Linux's ten
 *   row ALGORITHM V,V,…                        all parameters of a core
 */
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <stdexcept>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include "sender.h"

using namespace ns3;

namespace
{
constexpr uint32_t HEADERS = 20 + 20 + 12; /* IPv4, TCP, time stamps */
constexpr uint32_t PPP = 2, ETHERNET = 14; /* what ns-3's link and Linux's tbf add to an IP packet */
constexpr uint32_t REFILL = 64 * 1024;
constexpr uint32_t QUICK_ACKS = 16; /* Linux acknowledges so many segments of a young connection at once */
constexpr uint16_t DOCUMENTS = 80, BULK = 81; /* ports */

struct Document {
	int client;
	uint32_t size;
	int64_t asked, first = 0, acked = 0, arrived = 0; /* us */
	uint32_t received = 0;
};

struct Flow {
	int id;
	std::string algorithm;
	Ptr<TcpSocketBase> socket = nullptr;
	uint64_t acked = 0, warm = 0; /* bytes; `warm`: before the measurement */
	uint32_t retransmitted = 0;
	SequenceNumber32 sent{ 0 };
	int64_t rtt = 0, least = 0; /* us */
};

/* lists: callbacks keep references to their elements */
std::list<Document> documents;
std::list<Flow> flows;
std::map<std::string, Ptr<Node>> nodes;
std::map<std::string, uint32_t> windows;
std::map<uint16_t, Document *> asking; /* by the server's port */
Ipv4Address home;
uint32_t segment; /* bytes of payload */

int64_t Microseconds()
{
	return Simulator::Now().GetMicroSeconds();
}

/* Access links that never limit; the bottleneck with its queue, and all of the delay behind it. */
void Build(uint64_t rate, int64_t rtt, uint32_t mtu, uint32_t packets, bool priority)
{
	InternetStackHelper internet;
	PointToPointHelper access, bottleneck;
	TrafficControlHelper open, queue;
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	/* two more are in the device, where Linux's tbf leaves them in the queue */
	std::string size = std::to_string(std::max(packets, 3u) - 2) + "p";
	NetDeviceContainer last;

	for (auto name : { "www", "bulk", "home", "router" })
		internet.Install(nodes[name] = CreateObject<Node>());
	access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
	bottleneck.SetDeviceAttribute("DataRate", DataRateValue(rate * (mtu + PPP) / (mtu + ETHERNET)));
	bottleneck.SetChannelAttribute("Delay", TimeValue(MicroSeconds(rtt / 2)));
	bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
	open.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
	if (priority) {
		/* the lab's own map: low delay, which is priority 6, goes first */
		auto root = queue.SetRootQueueDisc("ns3::PrioQueueDisc", "Priomap",
						   StringValue("1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1"));

		for (auto band : queue.AddQueueDiscClasses(root, 2, "ns3::QueueDiscClass"))
			queue.AddChildQueueDisc(root, band, "ns3::FifoQueueDisc", "MaxSize", StringValue(size));
	} else {
		queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(size));
	}
	for (auto name : { "www", "bulk" }) {
		NetDeviceContainer devices = access.Install(nodes[name], nodes["router"]);

		open.Install(devices);
		addresses.Assign(devices);
		addresses.NewNetwork();
	}
	last = bottleneck.Install(nodes["router"], nodes["home"]);
	queue.Install(last.Get(0));
	open.Install(last.Get(1));
	home = addresses.Assign(last).GetAddress(1);
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	segment = mtu - HEADERS;
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
}

/* Linux's choices where ns-3 has others. */
void LikeLinux()
{
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
	Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
	Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
	Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(15));
	Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(1));
	/* RTO = srtt + max(200 ms, 4 rttvar), where ns-3's is at least a second */
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
	Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(200)));
}

Ptr<TcpSocketBase> Open(const std::string &host, const std::string &algorithm)
{
	Ptr<Node> node = nodes.at(host);
	Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
	Ptr<TcpSocketBase> socket = nullptr;
	int row = nn_core_row(algorithm.c_str());

	if (row >= 0) {
		Ptr<Sender> sender = CreateObject<Sender>(row);

		socket = sender;
		socket->SetNode(node);
		socket->SetTcp(tcp);
		socket->SetRtt(CreateObject<RttMeanDeviation>());
		socket->SetCongestionControlAlgorithm(CreateObject<SenderOps>(PeekPointer(sender)));
		socket->SetRecoveryAlgorithm(CreateObject<TcpPrrRecovery>());
		tcp->AddSocket(socket);
	} else if (algorithm == "reno") {
		socket = DynamicCast<TcpSocketBase>(
			tcp->CreateSocket(TcpLinuxReno::GetTypeId(), TcpPrrRecovery::GetTypeId()));
	} else {
		throw std::runtime_error("no congestion control '" + algorithm + "' here");
	}
	socket->SetAttribute("InitialCwnd", UintegerValue(windows.count(host) ? windows.at(host) : 10));
	socket->Bind();
	return socket;
}

/* Another trap: Connect() forgets the socket's TOS and takes the address's. */
InetSocketAddress Home(uint16_t port, int tos)
{
	InetSocketAddress address(home, port);

	address.SetTos(tos);
	return address;
}

/* What happens at home with a connection; a bulk flow's has no document. */
void Accept(Document *document, Ptr<Socket> socket)
{
	if (document)
		socket->SetAttribute("DelAckCount", UintegerValue(1));
	socket->SetRecvCallback(Callback<void, Ptr<Socket>>([document](Ptr<Socket> from) {
		while (Ptr<Packet> packet = from->Recv()) {
			if (!document || !packet->GetSize())
				break;
			document->received += packet->GetSize();
			if (document->received >= QUICK_ACKS * segment)
				from->SetAttribute("DelAckCount", UintegerValue(2));
			if (document->received >= document->size)
				document->arrived = Microseconds();
		}
	}));
	Callback<void, Ptr<Socket>> close([](Ptr<Socket> from) { from->Close(); });
	socket->SetCloseCallbacks(close, close);
}

void Listen(uint16_t port)
{
	Ptr<Socket> socket = Socket::CreateSocket(nodes.at("home"), TcpSocketFactory::GetTypeId());

	socket->Bind(InetSocketAddress(home, port));
	socket->Listen();
	socket->SetAcceptCallback(
		MakeNullCallback<bool, Ptr<Socket>, const Address &>(),
		Callback<void, Ptr<Socket>, const Address &>([port](Ptr<Socket> connection, const Address &from) {
			uint16_t peer = InetSocketAddress::ConvertFrom(from).GetPort();

			Accept(port == DOCUMENTS ? asking.at(peer) : nullptr, connection);
		}));
}

/* The server opens the connection when the client of the lab would: its first byte leaves one round trip later. */
void Ask(Document &document, const std::string &algorithm, int tos)
{
	Ptr<TcpSocketBase> socket = Open("www", algorithm);
	Address own;

	socket->SetConnectCallback(Callback<void, Ptr<Socket>>([&document](Ptr<Socket> to) {
					   document.first = Microseconds();
					   to->Send(Create<Packet>(document.size));
				   }),
				   Callback<void, Ptr<Socket>>());
	socket->TraceConnectWithoutContext(
		"HighestRxAck",
		Callback<void, SequenceNumber32, SequenceNumber32>(
			[&document, socket = PeekPointer(socket)](SequenceNumber32, SequenceNumber32 ack) {
				if (document.acked || ack.GetValue() < document.size + 1)
					return;
				document.acked = Microseconds();
				Simulator::ScheduleNow(&TcpSocketBase::Close, Ptr<TcpSocketBase>(socket));
			}));
	socket->Connect(Home(DOCUMENTS, tos));
	socket->GetSockName(own);
	asking[InetSocketAddress::ConvertFrom(own).GetPort()] = &document;
}

void Start(Flow &flow, int tos)
{
	flow.socket = Open("bulk", flow.algorithm);
	flow.socket->SetSendCallback(Callback<void, Ptr<Socket>, uint32_t>([](Ptr<Socket> to, uint32_t room) {
		for (; room >= REFILL; room -= REFILL)
			to->Send(Create<Packet>(REFILL));
	}));
	flow.socket->TraceConnectWithoutContext(
		"HighestRxAck",
		Callback<void, SequenceNumber32, SequenceNumber32>(
			[&flow](SequenceNumber32 old, SequenceNumber32 now) { flow.acked += now - old; }));
	flow.socket->TraceConnectWithoutContext("RTT", Callback<void, Time, Time>([&flow](Time, Time now) {
							flow.rtt = now.GetMicroSeconds();
							flow.least =
								flow.least ? std::min(flow.least, flow.rtt) : flow.rtt;
						}));
	flow.socket->TraceConnectWithoutContext(
		"Tx", Callback<void, Ptr<const Packet>, const TcpHeader &, Ptr<const TcpSocketBase>>(
			      [&flow](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
				      flow.retransmitted += packet->GetSize() && header.GetSequenceNumber() < flow.sent;
				      flow.sent = std::max(flow.sent, header.GetSequenceNumber() + packet->GetSize());
			      }));
	flow.socket->Connect(Home(BULK, tos));
}

/* Takes one line of the plan in; false: it asks for what is not played here. */
bool Take(std::istringstream &line, double &duration)
{
	static std::string server;
	static int serverTos;
	std::string word, host, name, rest;
	int64_t at, stop, pace;
	uint32_t size;
	int id, tos;

	line >> word;
	if (word == "device" || word == "sysctl" || word == "sink" || word == "core") {
		return true; /* the lab's own, and always there */
	} else if (word == "duration" && line >> at) {
		duration = double(at) / 1e6;
	} else if (word == "measure" && line >> at) {
		Simulator::Schedule(MicroSeconds(at), [] {
			for (Flow &flow : flows)
				flow.warm = flow.acked;
		});
	} else if (word == "link" && line >> pace >> at >> size >> id >> name) {
		Build(pace, at, size, id, name == "priority");
		Listen(DOCUMENTS);
		Listen(BULK);
	} else if (word == "window" && line >> host >> size) {
		windows[host] = size;
	} else if (word == "row" && line >> name >> rest) {
		return nn_core_row(name.c_str()) >= 0 && nn_core_set(nn_core_row(name.c_str()), rest.c_str());
	} else if (word == "server" && line >> host >> id >> server >> serverTos) {
		return host == "www";
	} else if (word == "client" && line >> id >> host >> rest >> at >> name) {
		return name == "fresh";
	} else if (word == "document" && line >> id >> at >> size) {
		Document &document = documents.emplace_back(Document{ id, size, at });

		Simulator::Schedule(MicroSeconds(at), [&document] { Ask(document, server, serverTos); });
	} else if (word == "bulk" && line >> id >> host >> rest >> size >> name >> tos >> at >> stop >> pace) {
		Flow &flow = flows.emplace_back(Flow{ id, name });

		Simulator::Schedule(MicroSeconds(at), [&flow, tos] { Start(flow, tos); });
		return host == "bulk" && !stop && !pace;
	} else {
		return false;
	}
	return true;
}

void Write(const std::string &directory)
{
	std::ofstream to(directory + "/documents.csv");

	to << "client,asked_us,size,first_us,acked_us,arrived_us\n";
	for (const Document &d : documents)
		to << d.client << ',' << d.asked << ',' << d.size << ',' << d.first << ',' << d.acked << ','
		   << d.arrived << '\n';
	to.close();
	to.open(directory + "/flows.csv");
	to << "id,cc,bytes,measured_bytes,retrans,srtt_us,min_rtt_us,window\n";
	for (const Flow &f : flows) {
		Ptr<Sender> sender = DynamicCast<Sender>(f.socket);

		to << f.id << ',' << f.algorithm << ',' << f.acked << ',' << f.acked - f.warm << ',' << f.retransmitted
		   << ',' << f.rtt << ',' << f.least << ',' << (sender ? uint64_t(sender->CoreWindow()) << 4 : 0)
		   << '\n';
	}
	to.close();
	if (!to)
		throw std::runtime_error("cannot write to " + directory);
}
} // namespace

int main(int argc, char **argv)
try {
	std::ifstream plan(argc == 3 ? argv[1] : "");
	double duration = 0;

	if (!plan)
		throw std::runtime_error("usage: netnice-ns3 PLAN OUT; there must be a file PLAN");
	LikeLinux();
	for (std::string text; std::getline(plan, text);) {
		std::istringstream line(text);

		if (!Take(line, duration))
			throw std::runtime_error("cannot play '" + text + "'");
	}
	Simulator::Stop(Seconds(duration));
	Simulator::Run();
	Write(argv[2]);
	Simulator::Destroy();
	return 0;
} catch (const std::exception &error) {
	std::cerr << "netnice-ns3: " << error.what() << '\n';
	return 1;
}

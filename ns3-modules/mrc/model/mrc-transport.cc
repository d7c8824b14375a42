// SPDX-License-Identifier: GPL-2.0-only

#include "mrc-transport.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(MrcTransport);

namespace
{

using Loss = CongestionControl::Loss;

constexpr uint32_t PORTS_SHIFT = 32; ///< Of the ports that are down, in the word COUNT of an answer

// Ethernet 14 and 4, IPv6 in IPv6 40 and 40, UDP 8, BTH 12, invariant CRC 4; of data METH 4 and
// RETH 16, of a SACK SETH 28 and CC_STATE 8 (README.md, sources 2 and 5) [byte]
constexpr uint32_t COMMON_BYTES = 122;
constexpr uint32_t DATA_BYTES = COMMON_BYTES + 4 + 16;
constexpr uint32_t SACK_BYTES = COMMON_BYTES + 28 + 8;

/// Give an attribute of the base another default.
void
SetDefault(TypeId tid, const std::string& name, uint32_t value)
{
    for (size_t i = 0; i < tid.GetAttributeN(); i++)
    {
        if (tid.GetAttribute(i).name == name)
        {
            tid.SetAttributeInitialValue(i, Create<UintegerValue>(value));
        }
    }
}

} // namespace

TypeId
MrcTransport::GetTypeId()
{
    static TypeId tid = [] {
        TypeId made = AddPaths(AddAttributes(TypeId("ns3::MrcTransport")
                                                 .SetParent<PacketTransport>()
                                                 .SetGroupName("Mrc")
                                                 .AddConstructor<MrcTransport>(),
                                             {.entropy = "ns3::PermutedEntropy",
                                              .rto = "50us",
                                              .reorderPackets = 256,
                                              .trimmable = true}));
        SetDefault(made, "HeaderBytes", DATA_BYTES);
        SetDefault(made, "AckBytes", SACK_BYTES);
        return made;
    }();
    return tid;
}

TypeId
MrcTransport::AddPaths(TypeId tid)
{
    using T = MrcTransport;
    return tid
        .AddAttribute("Entropies",
                      "Entropies that a connection uses at a time, equally many by each port [1]",
                      UintegerValue(256),
                      MakeUintegerAccessor(&T::m_entropies),
                      MakeUintegerChecker<uint32_t>(1, 65536))
        .AddAttribute("SourceRouted",
                      "An entropy modulo the number of paths is a path (ns3::EntropyModulo), so "
                      "that a port has no more entropies than paths; false: switches hash it",
                      BooleanValue(true),
                      MakeBooleanAccessor(&T::m_isSourceRouted),
                      MakeBooleanChecker())
        .AddAttribute("MinActiveShare",
                      "Share of the entropies that stay in use whatever is lost [1]",
                      DoubleValue(0.1),
                      MakeDoubleAccessor(&T::m_leastActiveShare),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("Denylist",
                      "Ports, from 0, and entropies that are never used: port:entropy or port:*, "
                      "separated by commas",
                      StringValue(""),
                      MakeStringAccessor(&T::m_denylist),
                      MakeStringChecker())
        .AddAttribute("ProbeInterval",
                      "Time between two probes of a connection",
                      TimeValue(MicroSeconds(10)),
                      MakeTimeAccessor(&T::m_probeInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("ProbeSuccesses",
                      "Answered probes in a row after which an entropy is used again [1]",
                      UintegerValue(3),
                      MakeUintegerAccessor(&T::m_probeSuccesses),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("PsnRange",
                      "Packets that a destination takes from the first missing one on [packet]",
                      UintegerValue(4096),
                      MakeUintegerAccessor(&T::m_psnRange),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("AckEveryBytes",
                      "An acknowledgement at the latest after this much has come [byte]",
                      UintegerValue(16384),
                      MakeUintegerAccessor(&T::m_ackEveryBytes),
                      MakeUintegerChecker<uint32_t>());
}

void
MrcTransport::Check() const
{
    MessageTransport::Check();
    NS_ABORT_MSG_IF(!HasControl(),
                    Name("CongestionControl")
                        << " is empty, so that nobody limits what is sent; set it, for example to "
                           "ns3::Nscc");
    NS_ABORT_MSG_IF(!MrcDenylist::Parse(m_denylist),
                    Name("Denylist")
                        << " is '" << m_denylist << "'; write a port below "
                        << MrcConnection::MOST_PORTS
                        << ", a colon, and an entropy below 65536 or *, for example 3:*,0:17");
}

void
MrcTransport::DoAttach()
{
    MessageTransport::DoAttach();
    NS_ABORT_MSG_IF(Host().NumPorts() > MrcConnection::MOST_PORTS,
                    "a host has " << Host().NumPorts() << " ports; ns3::MrcTransport tells of "
                                  << MrcConnection::MOST_PORTS << " at most");
    m_probeIntervalPs = static_cast<uint64_t>(m_probeInterval.GetPicoSeconds());
}

// ---- paths

/// @return a new connection to the destination of a message
MrcConnection
MrcTransport::Connect(uint32_t message) const
{
    const auto denied = *MrcDenylist::Parse(m_denylist);
    const uint32_t ports = Host().NumPorts();
    std::vector<MrcEntropies> planes;
    uint32_t active = 0;
    for (uint32_t place = 0; place < ports; place++)
    {
        MrcEntropies::Rules rules;
        rules.paths = m_isSourceRouted ? Host().NumPaths(message, Host().FirstPort() + place)
                                       : PathSelector::ALL_ENTROPIES;
        rules.paths = std::max(rules.paths, 1U);
        rules.active = std::clamp(m_entropies / ports, 1U, rules.paths);
        rules.probeSuccesses = m_probeSuccesses;
        rules.probeTimeoutPs = LeastRtoPs();
        MrcDenylist::Apply(denied, place, rules);
        active += rules.active;
        planes.emplace_back(std::move(rules));
    }
    const auto id = static_cast<uint64_t>(Host().GetMessage(message).id);
    return {std::move(planes),
            static_cast<uint32_t>(m_leastActiveShare * active),
            RandomCursor(Host().Stream(RandomUse::TRANSPORT, id))};
}

/// @return ports that lead to a host and are up here, a bit each
uint32_t
MrcTransport::PortsUp(uint32_t dst) const
{
    uint32_t up = 0;
    for (uint32_t place = 0; place < Host().NumPorts(); place++)
    {
        const PortId port = Host().FirstPort() + place;
        up |= uint32_t{Host().Serves(port, dst) && !Host().IsDown(port)} << place;
    }
    return up;
}

uint32_t
MrcTransport::AliveOf(const MrcOutbound& out) const
{
    return out.connection->Alive(PortsUp(Host().GetMessage(out.message).dst));
}

/// @return the entropy that stands for all that lead the same way
uint16_t
MrcTransport::PathOf(uint32_t message, PortId port, uint16_t entropy) const
{
    const uint32_t paths = m_isSourceRouted ? Host().NumPaths(message, port) : 0;
    return paths > 0 ? static_cast<uint16_t>(entropy % paths) : entropy;
}

/// A packet is lost, and not to congestion: its path is bad, unless its port is known to be down.
void
MrcTransport::Blame(MrcOutbound& out, uint32_t packet)
{
    const SentPath& sent = out.paths.Get(packet);
    const uint32_t place = sent.port - Host().FirstPort();
    const bool isKnown = Host().IsDown(sent.port) || out.connection->IsDownThere(place);
    if (!isKnown && out.connection->Lose(place, sent.entropy))
    {
        Await(out);
    }
}

// ---- source

void
MrcTransport::Begin(MrcOutbound& out)
{
    const uint32_t dst = Host().GetMessage(out.message).dst;
    auto found = m_connections.find(dst);
    if (found == m_connections.end())
    {
        found = m_connections.emplace(dst, Connect(out.message)).first;
    }
    out.connection = &found->second;
    Await(out);
}

bool
MrcTransport::MaySend(const MrcOutbound& out) const
{
    return out.packets.ToResend() > 0 || out.packets.Next() - out.packets.Base() < m_psnRange;
}

bool
MrcTransport::MayLeaveBy(const MrcOutbound& out, PortId port) const
{
    const bool mayLeave = out.connection->IsTurnOf(port - Host().FirstPort(), AliveOf(out));
    out.hasRefused |= !mayLeave;
    return mayLeave;
}

void
MrcTransport::Stamp(MrcOutbound& out, FrameId data, PortId port)
{
    Frame& frame = Host().GetFrame(data);
    const uint16_t suggested = PathOf(out.message, port, frame.entropy);
    const uint32_t place = port - Host().FirstPort();
    frame.entropy = out.connection->Leave(place, AliveOf(out), suggested);
    out.paths.Put(frame.packet, out.packets.Base(), {port, frame.entropy});
    const bool isOpenEnded = out.packets.HasMore() && MaySend(out) && HasRoomForMore(out);
    const bool isCopy = (frame.flags & frame_flag::RETRANSMITTED) != 0;
    frame.flags |= !isOpenEnded || isCopy ? selective::ASKS : 0;
    if (out.hasRefused) // it may be the turn of that port now
    {
        out.hasRefused = false;
        BringForward(out, FAMILY_DEADLINE, Host().NowPs());
    }
}

void
MrcTransport::LearnMore(Outbound& base, FrameId id, Answer& answer)
{
    auto& out = static_cast<MrcOutbound&>(base);
    const Frame& frame = Host().GetFrame(id);
    const SentPath& sent = out.paths.Get(frame.packet);
    const bool isTrimmed = (frame.flags & frame_flag::TRIMMED) != 0;
    const bool isLastHop = (frame.flags & frame_flag::TRIMMED_LAST_HOP) != 0;
    const bool isCongested = (frame.flags & frame_flag::ECN_ECHO) || (isTrimmed && !isLastHop);
    if (isCongested && sent.port != NO_PORT && sent.entropy == frame.entropy)
    {
        out.connection->Port(sent.port - Host().FirstPort()).Skip(frame.entropy);
    }
    const FrameNote* note = Host().FindNote(id);
    if (note && answer.cumulative < out.packets.Packets())
    {
        out.connection->HearPorts(
            static_cast<uint32_t>(note->words[selective::COUNT] >> PORTS_SHIFT));
    }
    selective::Read(out, note, answer, [&](uint32_t packet) { return LearnArrival(out, packet); });
}

void
MrcTransport::JudgeLosses(MrcOutbound& out, Answer& answer)
{
    if ((answer.flags & frame_flag::TRIMMED) && out.packets.Lost(answer.packet))
    {
        TellLost(out, answer.packet, Loss::TRIMMED, answer);
    }
    out.packets.JudgeOvertaken(out.reorderPackets, [&](uint32_t packet) {
        Blame(out, packet);
        TellLost(out, packet, Loss::OVERTAKEN, answer);
    });
}

void
MrcTransport::OnTimeout(MrcOutbound& out, Answer& lost)
{
    out.packets.LoseAll([&](uint32_t packet) {
        Blame(out, packet);
        TellLost(out, packet, Loss::TIMEOUT, lost);
    });
    out.unseenPackets = 0;
}

// ---- probes

/// Wait for the next probe if some entropy is bad.
void
MrcTransport::Await(MrcOutbound& out)
{
    if (out.connection->HasBad())
    {
        uint64_t& nextPs = out.connection->nextProbePs;
        nextPs = nextPs > Host().NowPs() ? nextPs : Host().NowPs() + m_probeIntervalPs;
        BringForward(out, FAMILY_DEADLINE, nextPs);
    }
}

void
MrcTransport::OnDeadline(MrcOutbound& out)
{
    MrcConnection& connection = *out.connection;
    if (connection.HasBad() && Host().NowPs() >= connection.nextProbePs)
    {
        if (const auto probe = connection.TakeProbe(Host().NowPs()))
        {
            const FrameId id = MakeControl(out.message, PROBE, m_ackBytes);
            Frame& frame = Host().GetFrame(id);
            frame.entropy = probe->second;
            frame.aux = probe->first;
            frame.priority = m_priority;
            frame.flags |= frame_flag::ECN_CAPABLE;
            Host().SendControl(id, Host().FirstPort() + probe->first);
        }
    }
    Await(out);
}

void
MrcTransport::OnRequest(MrcInbound& in, FrameId probe, PortId port)
{
    const Frame asked = Host().GetFrame(probe);
    const FrameId id = MakeControl(in.message, PROBE, m_ackBytes);
    Frame& frame = Host().GetFrame(id);
    frame.entropy = asked.entropy;
    frame.aux = asked.aux;
    frame.flags |= (asked.flags & frame_flag::ECN_MARKED) ? frame_flag::ECN_ECHO : 0;
    Host().SendControl(id, port);
}

void
MrcTransport::OnControl(MrcOutbound& out, FrameId probe)
{
    const Frame& frame = Host().GetFrame(probe);
    const bool isMarked = (frame.flags & frame_flag::ECN_ECHO) != 0;
    out.connection->Port(frame.aux).OnProbe(frame.entropy, isMarked);
    Wake(out); // a port may be alive again
}

// ---- destination

void
MrcTransport::OnPayload(MrcInbound& in, FrameId id, PortId port, uint32_t)
{
    const Frame& frame = Host().GetFrame(id);
    if (selective::IsDue(in.unanswered, frame, in.received, m_ackEveryBytes))
    {
        Acknowledge(in, id, port, ACK);
        return;
    }
    Host().FreeFrame(id);
}

void
MrcTransport::OnTrimmed(MrcInbound& in, FrameId id, PortId port)
{
    Acknowledge(in, id, port, NAK);
}

void
MrcTransport::Acknowledge(MrcInbound& in, FrameId id, PortId port, uint8_t kind)
{
    FrameNote& note = Host().Note(id);
    selective::Write(note, Host().GetFrame(id), in.received);
    uint64_t down = 0;
    for (uint32_t place = 0; place < Host().NumPorts(); place++)
    {
        down |= uint64_t{Host().IsDown(Host().FirstPort() + place)} << place;
    }
    note.words[selective::COUNT] |= down << PORTS_SHIFT;
    SendAnswer(in, id, port, kind);
}

} // namespace ns3

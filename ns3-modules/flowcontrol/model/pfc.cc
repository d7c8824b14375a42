// SPDX-License-Identifier: GPL-2.0-only

#include "pfc.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Pfc");
NS_OBJECT_ENSURE_REGISTERED(Pfc);

namespace
{

constexpr uint32_t PAUSE_FRAME_BYTES = 64; ///< IEEE 802.1Qbb figure 36-2 [byte]
constexpr uint32_t PRIORITY_MASK = 0xff;   ///< Class vector in the word of a PAUSE
constexpr uint32_t RESUME = 1U << 8;       ///< Beside the class vector: pause time zero

} // namespace

TypeId
Pfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Pfc")
            .SetParent<LinkFlowControl>()
            .SetGroupName("Flowcontrol")
            .AddConstructor<Pfc>()
            .AddAttribute("XoffBytes",
                          "Bytes of one ingress port and priority above which PAUSE is sent [byte]",
                          UintegerValue(200'000),
                          MakeUintegerAccessor(&Pfc::m_xoffBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("Alpha",
                          "Dynamic threshold instead of XoffBytes, as a multiple of the free "
                          "shared buffer [1], 0 = XoffBytes holds",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&Pfc::m_alpha),
                          MakeDoubleChecker<double>(0.0, 128.0))
            .AddAttribute("XonOffsetBytes",
                          "RESUME is sent once XoffBytes minus this or less is held [byte]",
                          UintegerValue(12'000),
                          MakeUintegerAccessor(&Pfc::m_xonOffsetBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("HeadroomBytes",
                          "Bytes accepted beyond XoffBytes [byte], 0 = what rate and delay of the "
                          "link need",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Pfc::m_headroomBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MtuFrameBytes",
                          "Largest frame on the links, for the headroom [byte], 0 = the largest "
                          "that a transport of the scenario sends",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Pfc::m_mtuFrameBytes),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("Priorities",
                          "Lossless priorities as a bit mask [1], 8 is priority 3",
                          UintegerValue(8),
                          MakeUintegerAccessor(&Pfc::m_priorities),
                          MakeUintegerChecker<uint32_t>(1, 255));
    return tid;
}

uint64_t
Pfc::HeadroomOf(PortId ingress) const
{
    // What comes beyond XoffBytes: the frame that crosses it, what the other end puts on the wire
    // until it hears of it, and the frame it has begun by then.
    const uint64_t waitPs =
        m_context->SerialisationPs(ingress, m_mtuFrameBytes) +
        m_losslessCount * m_context->SerialisationPs(ingress, PAUSE_FRAME_BYTES) +
        2 * m_context->DelayPs(ingress) + m_context->ProcessingDelayPs(ingress);
    const double bytes =
        static_cast<double>(waitPs) * 1e-12 * static_cast<double>(m_context->RateBps(ingress)) / 8;
    return static_cast<uint64_t>(bytes) + 1 + 2 * uint64_t{m_mtuFrameBytes};
}

void
Pfc::Check() const
{
    NS_ABORT_MSG_IF(m_alpha == 0 && m_xonOffsetBytes > m_xoffBytes,
                    Name("XonOffsetBytes")
                        << " is " << m_xonOffsetBytes << ", more than XoffBytes, " << m_xoffBytes);
}

void
Pfc::Attach(LinkContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_isDynamic = m_alpha > 0;
    if (m_mtuFrameBytes == 0)
    {
        m_mtuFrameBytes = context.LargestFrameBytes();
    }
    m_losslessCount = 0;
    for (uint8_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        m_index[priority] = static_cast<uint8_t>(m_losslessCount);
        m_losslessCount += (m_priorities >> priority) & 1;
    }
    m_lossless.assign(size_t{context.NumPorts()} * m_losslessCount, {});
    m_sharedBytes.assign(context.NumNodes(), 0);
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        if (context.GetNode(node).isSwitch)
        {
            Reserve(node);
        }
    }
}

/// Set headroom aside for the ports of a switch, if its buffer holds that.
void
Pfc::Reserve(uint32_t node)
{
    const NodeState& state = m_context->GetNode(node);
    uint64_t neededBytes = 0;
    uint32_t ports = 0;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        const uint64_t headroomBytes = m_headroomBytes ? m_headroomBytes : HeadroomOf(port);
        for (uint32_t i = 0; i < m_losslessCount; i++)
        {
            m_lossless[size_t{port} * m_losslessCount + i].headroomBytes = headroomBytes;
        }
        if (m_context->Serves(port))
        {
            neededBytes += m_losslessCount * (headroomBytes + (m_alpha > 0 ? 0 : m_xoffBytes));
            ports++;
        }
    }
    const auto bufferBytes = m_context->BufferBytes(node);
    NS_LOG_LOGIC("switch " << state.id << " sets " << neededBytes << " bytes aside");
    NS_ABORT_MSG_IF(m_alpha > 0 && ports > 0 && !bufferBytes,
                    "ns3::Pfc: Alpha is a multiple of the free buffer, so the switches need a "
                    "buffer size; switch "
                        << state.id << " has none");
    NS_ABORT_MSG_IF(bufferBytes && neededBytes > *bufferBytes,
                    "ns3::Pfc: switch " << state.id << " needs " << neededBytes
                                        << " bytes for XoffBytes and headroom of " << ports
                                        << " ports, its buffer has " << *bufferBytes
                                        << "; raise switch.buffer or lower XoffBytes");
    m_sharedBytes[node] = bufferBytes.value_or(neededBytes) - neededBytes;
}

/// @return threshold of every port and priority of its switch at this moment [byte]
uint64_t
Pfc::XoffBytesOf(PortId ingress) const
{
    if (!m_isDynamic)
    {
        return m_xoffBytes;
    }
    const uint32_t node = m_context->GetPort(ingress).node;
    const uint64_t used = m_context->GetNode(node).usedBytes;
    const uint64_t shared = m_sharedBytes[node];
    return static_cast<uint64_t>(m_alpha * static_cast<double>(shared - std::min(shared, used)));
}

void
Pfc::Pause(PortId ingress, PortId egress, uint8_t priority)
{
    NS_LOG_LOGIC("PAUSE of priority " << +priority << " from port " << ingress);
    Lossless& account = AccountOf(ingress, priority);
    account.isPaused = true;
    account.pausedAtBytes = account.heldBytes;
    m_context->Send(ingress, 1U << priority, PAUSE_FRAME_BYTES, egress);
}

void
Pfc::Resume(PortId ingress, uint8_t priority)
{
    NS_LOG_LOGIC("RESUME of priority " << +priority << " from port " << ingress);
    AccountOf(ingress, priority).isPaused = false;
    m_context->Send(ingress, RESUME | (1U << priority), PAUSE_FRAME_BYTES);
}

bool
Pfc::OnArrival(PortId ingress, PortId egress, const Frame& frame)
{
    Lossless& account = AccountOf(ingress, frame.priority);
    const uint64_t xoffBytes = XoffBytesOf(ingress);
    uint64_t baseBytes = xoffBytes;
    if (m_isDynamic)
    {
        // What a port held when it was paused, or holds while it is not, stays its own when the
        // threshold falls below: all of the headroom is for what comes after the PAUSE.
        baseBytes =
            std::max(baseBytes, account.isPaused ? account.pausedAtBytes : account.heldBytes);
    }
    const uint64_t wantedBytes = account.heldBytes + frame.bytes;
    const bool fits = wantedBytes <= baseBytes + account.headroomBytes;
    // Who holds nothing is not paused: only what leaves calls for RESUME.
    if (wantedBytes > xoffBytes && !account.isPaused && (fits || account.heldBytes > 0))
    {
        Pause(ingress, egress, frame.priority);
    }
    if (!fits)
    {
        return false;
    }
    account.heldBytes = wantedBytes;
    account.peakBytes = std::max(account.peakBytes, wantedBytes);
    return true;
}

void
Pfc::OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes)
{
    Lossless& account = AccountOf(ingress, priority);
    account.heldBytes -= bytes;
    // An empty account resumes in any case: nothing else would ever look at it again.
    if (account.isPaused &&
        (account.heldBytes == 0 || account.heldBytes + m_xonOffsetBytes <= XoffBytesOf(ingress)))
    {
        Resume(ingress, priority);
    }
}

void
Pfc::OnLinkControl(PortId port, const LinkMessage& message)
{
    const auto mask = static_cast<uint16_t>(message.word & PRIORITY_MASK);
    const uint16_t paused = m_context->GetPort(port).paused;
    m_context->SetPaused(port, (message.word & RESUME) ? paused & ~mask : paused | mask, message);
}

WireBytes
Pfc::MacControl(uint32_t word) const
{
    // IEEE 802.1Qbb figure 36-2. A pause holds until RESUME, so its time is the longest there is.
    constexpr uint16_t OPCODE = 0x0101;
    constexpr uint16_t LONGEST_QUANTA = 0xffff;
    WireBytes bytes;
    bytes.Put(OPCODE, 2);
    bytes.Put(word & PRIORITY_MASK, 2);
    for (uint32_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        const bool pauses = ((word >> priority) & 1) && !(word & RESUME);
        bytes.Put(pauses ? LONGEST_QUANTA : 0, 2);
    }
    return bytes;
}

void
Pfc::OnLinkDown(PortId port)
{
    NS_LOG_FUNCTION(this << port);
    for (uint32_t i = 0; i < m_losslessCount; i++)
    {
        m_lossless[size_t{port} * m_losslessCount + i].isPaused = false;
    }
}

LinkFlowControl::PortMemory
Pfc::Memory() const
{
    return {m_lossless.data(), m_losslessCount * sizeof(Lossless)};
}

LinkFlowControl::Account
Pfc::GetAccount(PortId ingress, uint8_t priority) const
{
    if (!((m_priorities >> priority) & 1))
    {
        return {};
    }
    const Lossless& account = m_lossless[size_t{ingress} * m_losslessCount + m_index[priority]];
    return {.heldBytes = account.heldBytes,
            .peakBytes = account.peakBytes,
            .reservedBytes = XoffBytesOf(ingress) + account.headroomBytes,
            .holdsBack = account.isPaused};
}

} // namespace ns3

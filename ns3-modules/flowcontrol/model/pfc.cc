// SPDX-License-Identifier: GPL-2.0-only

#include "pfc.h"

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(Pfc);

namespace
{

constexpr uint32_t PAUSE_FRAME_BYTES = 64; ///< IEEE 802.1Qbb figure 36-2 [byte]
constexpr uint32_t RESUME = 1U << 8;       ///< Beside the class vector: pause time zero

} // namespace

TypeId
Pfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Pfc")
            .SetParent<LinkFlowControl>()
            .SetGroupName("Fabric")
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
                          "RESUME is sent at XoffBytes minus this [byte]",
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
Pfc::HeadroomOf(const Fabric& fabric, PortId ingress) const
{
    // What comes beyond XoffBytes: the frame that crosses it, what the other end puts on the wire
    // until it hears of it, and the frame it has begun by then.
    const uint64_t waitPs = fabric.SerialisationPs(ingress, m_mtuFrameBytes) +
                            fabric.SerialisationPs(ingress, PAUSE_FRAME_BYTES) +
                            2 * fabric.DelayPs(ingress) + fabric.Options().switchDelayPs;
    const double bytes = static_cast<double>(waitPs) * 1e-12 *
                         static_cast<double>(fabric.RateBps(ingress)) / 8;
    return static_cast<uint64_t>(bytes) + 1 + 2 * uint64_t{m_mtuFrameBytes};
}

void
Pfc::Attach(Fabric& fabric)
{
    NS_ABORT_MSG_IF(m_alpha == 0 && m_xonOffsetBytes > m_xoffBytes,
                    "ns3::Pfc: XonOffsetBytes is " << m_xonOffsetBytes << ", more than XoffBytes "
                                                   << m_xoffBytes);
    m_fabric = &fabric;
    if (m_mtuFrameBytes == 0)
    {
        m_mtuFrameBytes = fabric.LargestFrameBytes();
    }
    m_ingress.resize(fabric.NumPorts());
    for (PortId port = 0; port < fabric.NumPorts(); port++)
    {
        m_ingress[port].headroomBytes =
            m_headroomBytes ? m_headroomBytes : HeadroomOf(fabric, port);
    }
    m_pausedAtBytes.resize(m_alpha > 0 ? fabric.NumPorts() : 0);
    NS_ABORT_MSG_IF(m_alpha > 0 && fabric.Options().bufferBytes == 0,
                    "ns3::Pfc: Alpha is a multiple of the free buffer, so the switches need a "
                    "buffer size");
    const auto lossless = static_cast<uint64_t>(__builtin_popcount(m_priorities));
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        const NodeState& state = fabric.GetNode(node);
        uint64_t bytes = 0;
        for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
        {
            bytes += lossless * (m_ingress[port].headroomBytes + (m_alpha > 0 ? 0 : m_xoffBytes));
        }
        const uint64_t buffer = fabric.Options().bufferBytes;
        NS_ABORT_MSG_IF(state.isSwitch && buffer && bytes > buffer,
                        "ns3::Pfc: switch " << state.id << " needs " << bytes
                                            << " bytes for XoffBytes and headroom of "
                                            << state.ports << " ports, its buffer has " << buffer
                                            << "; enlarge the buffer or lower XoffBytes");
        m_sharedBytes.push_back(buffer > bytes ? buffer - bytes : 0);
    }
}

/// @return threshold of every port and priority of a switch at this moment [byte]
uint64_t
Pfc::XoffBytesOf(uint32_t node) const
{
    if (m_alpha == 0)
    {
        return m_xoffBytes;
    }
    const uint64_t used = m_fabric->GetNode(node).usedBytes;
    const uint64_t shared = m_sharedBytes[node];
    return static_cast<uint64_t>(m_alpha * static_cast<double>(shared - std::min(shared, used)));
}

bool
Pfc::IsLossless(uint8_t priority) const
{
    return (m_priorities >> priority) & 1;
}

bool
Pfc::OnArrival(PortId ingress, const Frame& frame)
{
    Ingress& account = m_ingress[ingress];
    uint32_t& used = account.usedBytes[frame.priority];
    if (!IsLossless(frame.priority))
    {
        used += frame.bytes;
        return true;
    }
    const auto bit = static_cast<uint8_t>(1U << frame.priority);
    const uint64_t xoffBytes = XoffBytesOf(m_fabric->GetPort(ingress).node);
    const bool isPaused = account.paused & bit;
    uint64_t baseBytes = xoffBytes;
    if (m_alpha > 0)
    {
        // What a port held when it was paused, or holds while it is not, stays its own when the
        // threshold falls below: all of the headroom is for what comes after the PAUSE.
        const uint32_t own = isPaused ? m_pausedAtBytes[ingress][frame.priority] : used;
        baseBytes = std::max<uint64_t>(baseBytes, own);
    }
    const bool fits = used + frame.bytes <= baseBytes + account.headroomBytes;
    // Who holds nothing is not paused: only what leaves calls for RESUME.
    if (used + frame.bytes > xoffBytes && !isPaused && (fits || used > 0))
    {
        account.paused |= bit;
        if (m_alpha > 0)
        {
            m_pausedAtBytes[ingress][frame.priority] = used;
        }
        m_fabric->SendLinkControl(ingress, bit, PAUSE_FRAME_BYTES);
    }
    if (!fits)
    {
        return false;
    }
    used += frame.bytes;
    account.peakBytes = std::max(account.peakBytes, used);
    return true;
}

void
Pfc::OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes)
{
    Ingress& account = m_ingress[ingress];
    uint32_t& used = account.usedBytes[priority];
    used -= bytes;
    const auto bit = static_cast<uint8_t>(1U << priority);
    // An empty account resumes in any case: nothing else would ever look at it again.
    if ((account.paused & bit) &&
        (used == 0 || used + m_xonOffsetBytes <= XoffBytesOf(m_fabric->GetPort(ingress).node)))
    {
        account.paused &= ~bit;
        m_fabric->SendLinkControl(ingress, RESUME | bit, PAUSE_FRAME_BYTES);
    }
}

void
Pfc::OnLinkControl(PortId port, const Frame& frame)
{
    const auto mask = static_cast<uint16_t>(frame.aux & 0xff);
    const uint16_t paused = m_fabric->GetPort(port).paused;
    m_fabric->SetPaused(port, (frame.aux & RESUME) ? paused & ~mask : paused | mask);
}

WireBytes
Pfc::MacControl(const Frame& frame) const
{
    // IEEE 802.1Qbb figure 36-2. A pause holds until RESUME, so its time is the longest there is.
    constexpr uint16_t OPCODE = 0x0101;
    constexpr uint16_t LONGEST_QUANTA = 0xffff;
    WireBytes bytes;
    bytes.Put(OPCODE, 2);
    bytes.Put(frame.aux & 0xff, 2);
    for (uint32_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        const bool pauses = ((frame.aux >> priority) & 1) && !(frame.aux & RESUME);
        bytes.Put(pauses ? LONGEST_QUANTA : 0, 2);
    }
    return bytes;
}

void
Pfc::OnLinkDown(PortId port)
{
    m_ingress[port].paused = 0;
}

void
Pfc::Fetch(PortId ingress) const
{
    __builtin_prefetch(&m_ingress[ingress], 1);
}

bool
Pfc::HoldsBack(PortId ingress, uint8_t priority) const
{
    return (m_ingress[ingress].paused >> priority) & 1;
}

uint64_t
Pfc::ReservedBytes(PortId ingress) const
{
    return XoffBytesOf(m_fabric->GetPort(ingress).node) + m_ingress[ingress].headroomBytes;
}

uint32_t
Pfc::PeakBytes(PortId ingress) const
{
    return m_ingress[ingress].peakBytes;
}

uint64_t
Pfc::HeldBytes(PortId ingress) const
{
    uint64_t held = 0;
    for (const auto bytes : m_ingress[ingress].usedBytes)
    {
        held += bytes;
    }
    return held;
}

} // namespace ns3

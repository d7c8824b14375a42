// SPDX-License-Identifier: GPL-2.0-only

#include "credit-flow-control.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("CreditFlowControl");
NS_OBJECT_ENSURE_REGISTERED(CreditFlowControl);

namespace
{

constexpr uint32_t BLOCK_BYTES = 64;
constexpr uint32_t COUNTER_BITS = 14;
constexpr uint32_t COUNTER_RANGE = 1U << COUNTER_BITS;
constexpr uint32_t COUNTER_MASK = COUNTER_RANGE - 1;

uint32_t
BlocksOf(uint32_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

} // namespace

TypeId
CreditFlowControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CreditFlowControl")
            .SetParent<LinkFlowControl>()
            .SetGroupName("Flowcontrol")
            .AddConstructor<CreditFlowControl>()
            .AddAttribute("Lanes",
                          "Virtual lanes of each link; priority n goes by lane n [1]",
                          UintegerValue(NUM_PRIORITIES),
                          MakeUintegerAccessor(&CreditFlowControl::m_numLanes),
                          MakeUintegerChecker<uint32_t>(1, MAX_CLASSES))
            .AddAttribute("LaneBlocks",
                          "Buffer of each lane at each end of a link [64 byte]; InfiniBand "
                          "advertises at most 2048",
                          UintegerValue(2048),
                          MakeUintegerAccessor(&CreditFlowControl::m_laneBlocks),
                          MakeUintegerChecker<uint32_t>(1, COUNTER_RANGE / 2 - 1))
            .AddAttribute("UpdateBlocks",
                          "New credit of a lane that is said at once [64 byte], 0 = an eighth of "
                          "LaneBlocks, or less where a frame would wait for it",
                          UintegerValue(0),
                          MakeUintegerAccessor(&CreditFlowControl::m_updateBlocks),
                          MakeUintegerChecker<uint32_t>(0, COUNTER_RANGE / 2 - 1))
            .AddAttribute("UpdateInterval",
                          "Time after which anything new is said",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&CreditFlowControl::m_updateInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("UpdateBytes",
                          "Size of an update [byte]; a flow control packet of InfiniBand has 6",
                          UintegerValue(6),
                          MakeUintegerAccessor(&CreditFlowControl::m_updateBytes),
                          MakeUintegerChecker<uint32_t>(6, 1024))
            .AddAttribute("MtuFrameBytes",
                          "Largest frame on the links [byte], 0 = the largest that a transport of "
                          "the scenario sends",
                          UintegerValue(0),
                          MakeUintegerAccessor(&CreditFlowControl::m_mtuFrameBytes),
                          MakeUintegerChecker<uint32_t>(0, 65535));
    return tid;
}

/// @param mtuBlocks of the largest frame
void
CreditFlowControl::CheckBlocks(uint32_t mtuBlocks) const
{
    NS_ABORT_MSG_IF(mtuBlocks > m_laneBlocks,
                    Name("LaneBlocks")
                        << " is " << m_laneBlocks << ", but the largest frame has " << mtuBlocks
                        << " blocks; write at least LaneBlocks=" << mtuBlocks);
    const uint32_t most = m_laneBlocks - mtuBlocks + 1; // else a frame waits for the interval
    NS_ABORT_MSG_IF(m_updateBlocks > most,
                    Name("UpdateBlocks")
                        << " is " << m_updateBlocks << ", so a frame of " << mtuBlocks
                        << " blocks could wait for credit that is free; write at most "
                        << "UpdateBlocks=" << most);
}

void
CreditFlowControl::Check() const
{
    if (m_mtuFrameBytes != 0) // else Attach learns it
    {
        CheckBlocks(BlocksOf(m_mtuFrameBytes));
    }
}

/// A lane's buffer is its own: all of them must be there.
void
CreditFlowControl::CheckBuffer(uint32_t node) const
{
    const NodeState& state = m_context->GetNode(node);
    const auto bufferBytes = m_context->BufferBytes(node);
    uint64_t ports = 0;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        ports += m_context->Serves(port);
    }
    const uint64_t laneBytes = uint64_t{m_laneBlocks} * BLOCK_BYTES;
    NS_ABORT_MSG_IF(state.isSwitch && bufferBytes && ports * m_numLanes * laneBytes > *bufferBytes,
                    "ns3::CreditFlowControl: switch "
                        << state.id << " needs " << ports << " ports x " << m_numLanes
                        << " lanes x " << laneBytes << " bytes, its buffer has " << *bufferBytes
                        << "; raise switch.buffer to " << ports * m_numLanes * laneBytes
                        << " bytes, fewer Lanes, or LaneBlocks="
                        << *bufferBytes / (ports * m_numLanes * BLOCK_BYTES));
}

void
CreditFlowControl::Attach(LinkContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    if (m_mtuFrameBytes == 0)
    {
        m_mtuFrameBytes = context.LargestFrameBytes();
    }
    m_mtuBlocks = BlocksOf(m_mtuFrameBytes);
    CheckBlocks(m_mtuBlocks);
    if (m_updateBlocks == 0)
    {
        m_updateBlocks = std::max(1U, std::min(m_laneBlocks / 8, m_laneBlocks - m_mtuBlocks + 1));
    }
    m_updatePs = static_cast<uint64_t>(m_updateInterval.GetPicoSeconds());
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        CheckBuffer(node);
    }
    const Lane initialised{.limit = m_laneBlocks, .saidLimit = m_laneBlocks};
    m_lanes.assign(size_t{context.NumPorts()} * m_numLanes, initialised);
    m_ends.assign(context.NumPorts(), {});
}

// ---- sender -----------------------------------------------------------------------------------

bool
CreditFlowControl::MaySend(const Lane& lane) const
{
    return ((lane.limit - lane.sent - m_mtuBlocks) & COUNTER_MASK) <= COUNTER_RANGE / 2;
}

void
CreditFlowControl::HoldOrRelease(PortId port, uint32_t lane)
{
    const uint16_t held = m_context->GetPort(port).paused;
    const auto bit = static_cast<uint16_t>(1U << lane);
    const auto wanted = static_cast<uint16_t>(MaySend(At(port, lane)) ? held & ~bit : held | bit);
    if (wanted != held)
    {
        m_context->SetPaused(port, wanted);
    }
}

void
CreditFlowControl::OnTransmit(PortId egress, const Frame& frame)
{
    NS_ABORT_MSG_IF(frame.priority >= m_numLanes,
                    "ns3::CreditFlowControl: a frame has priority "
                        << +frame.priority << ", but there are " << m_numLanes
                        << " lanes; write at least Lanes=" << frame.priority + 1);
    Lane& lane = At(egress, frame.priority);
    const uint32_t blocks = BlocksOf(frame.bytes);
    NS_ABORT_MSG_IF(((lane.limit - lane.sent - blocks) & COUNTER_MASK) > COUNTER_RANGE / 2,
                    "ns3::CreditFlowControl: a frame of "
                        << frame.bytes << " bytes goes without credit; if it is larger than "
                        << m_mtuFrameBytes << ", write MtuFrameBytes=" << frame.bytes);
    lane.sent = (lane.sent + blocks) & COUNTER_MASK;
    HoldOrRelease(egress, frame.priority);
    SetTimer(egress);
}

// ---- receiver ---------------------------------------------------------------------------------

/// @return up to which count the other end may send (FCCL) [block]
uint32_t
CreditFlowControl::LimitOf(const Lane& lane) const
{
    return (lane.received + m_laneBlocks - lane.heldBlocks) & COUNTER_MASK;
}

void
CreditFlowControl::Say(PortId port, uint32_t index)
{
    Lane& lane = At(port, index);
    lane.saidSent = lane.sent;
    lane.saidLimit = LimitOf(lane);
    m_context->Send(port,
                    (index << (2 * COUNTER_BITS)) | (lane.saidSent << COUNTER_BITS) |
                        lane.saidLimit,
                    m_updateBytes);
}

void
CreditFlowControl::SayIfEnough(PortId port, uint32_t index)
{
    const Lane& lane = At(port, index);
    const uint32_t news = (LimitOf(lane) - lane.saidLimit) & COUNTER_MASK;
    if (news >= m_updateBlocks)
    {
        Say(port, index);
    }
    else if (news > 0)
    {
        SetTimer(port);
    }
}

/// What the other end has sent and has not come by now never will: it was lost.
void
CreditFlowControl::Settle(PortId port)
{
    auto& reports = m_ends[port].reports;
    while (!reports.empty() && reports.front().duePs <= m_context->NowPs())
    {
        const Report report = reports.front();
        reports.pop_front();
        Lane& lane = At(port, report.lane);
        if (lane.received != report.sent)
        {
            NS_LOG_LOGIC("lane " << +report.lane << " of port " << port << " lost blocks");
            lane.received = report.sent;
            SayIfEnough(port, report.lane);
        }
    }
}

bool
CreditFlowControl::OnArrival(PortId ingress, PortId, const Frame& frame)
{
    Settle(ingress);
    Lane& lane = At(ingress, frame.priority);
    const uint32_t blocks = BlocksOf(frame.bytes);
    lane.received = (lane.received + blocks) & COUNTER_MASK;
    if (lane.heldBlocks + blocks > m_laneBlocks)
    {
        return false; // only a frame that outlived a cut of its link
    }
    lane.heldBlocks += blocks;
    lane.heldBytes += frame.bytes;
    lane.peakBytes = std::max(lane.peakBytes, lane.heldBytes);
    return true;
}

void
CreditFlowControl::OnDeparture(PortId ingress, uint8_t index, uint32_t bytes)
{
    Lane& lane = At(ingress, index);
    lane.heldBlocks -= BlocksOf(bytes);
    lane.heldBytes -= bytes;
    SayIfEnough(ingress, index);
}

// ---- both -------------------------------------------------------------------------------------

void
CreditFlowControl::OnLinkControl(PortId port, const LinkMessage& message)
{
    const auto index = static_cast<uint8_t>(message.word >> (2 * COUNTER_BITS));
    At(port, index).limit = message.word & COUNTER_MASK;
    HoldOrRelease(port, index);
    // Updates overtake what waits for the switch.
    const uint64_t processingDelayPs =
        m_context->GetPort(port).isHost ? 0 : m_context->ProcessingDelayPs(port);
    m_ends[port].reports.push_back({.duePs = m_context->NowPs() + processingDelayPs,
                                    .lane = index,
                                    .sent = (message.word >> COUNTER_BITS) & COUNTER_MASK});
    Settle(port);
    if (!m_ends[port].reports.empty())
    {
        SetTimer(port);
    }
}

void
CreditFlowControl::SetTimer(PortId port)
{
    if (!m_ends[port].isTimed)
    {
        m_ends[port].isTimed = true;
        m_context->SetTimer(port, m_context->NowPs() + m_updatePs);
    }
}

void
CreditFlowControl::OnTimer(PortId port)
{
    m_ends[port].isTimed = false;
    Settle(port);
    for (uint32_t index = 0; index < m_numLanes; index++)
    {
        const Lane& lane = At(port, index);
        if (lane.sent != lane.saidSent || LimitOf(lane) != lane.saidLimit)
        {
            Say(port, index);
        }
    }
}

void
CreditFlowControl::OnLinkDown(PortId port)
{
    NS_LOG_FUNCTION(this << port);
    m_ends[port].reports.clear();
}

/// Both ends say how far they are; what was under way was lost. Nobody sends before.
void
CreditFlowControl::OnLinkUp(PortId port)
{
    NS_LOG_FUNCTION(this << port);
    m_context->SetPaused(port, static_cast<uint16_t>(GetTraits().losslessClasses));
    for (uint32_t index = 0; index < m_numLanes; index++)
    {
        Say(port, index);
    }
}

LinkFlowControl::PortMemory
CreditFlowControl::Memory() const
{
    return {m_lanes.data(), m_numLanes * sizeof(Lane)};
}

LinkFlowControl::Account
CreditFlowControl::GetAccount(PortId ingress, uint8_t index) const
{
    const Lane& lane = m_lanes[size_t{ingress} * m_numLanes + index];
    return {.heldBytes = lane.heldBytes,
            .peakBytes = lane.peakBytes,
            .reservedBytes = uint64_t{m_laneBlocks} * BLOCK_BYTES,
            .holdsBack = m_laneBlocks - lane.heldBlocks < m_mtuBlocks};
}

} // namespace ns3

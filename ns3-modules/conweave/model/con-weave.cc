// SPDX-License-Identifier: GPL-2.0-only

#include "con-weave.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("ConWeave");
NS_OBJECT_ENSURE_REGISTERED(ConWeave);

namespace
{

// What the note of a frame says: the epoch in the lower 16 bits, and these.
constexpr uint32_t DATA = 1U << 16;
constexpr uint32_t REQUEST = 1U << 17;
constexpr uint32_t TAIL = 1U << 18;
constexpr uint32_t REROUTED = 1U << 19;
constexpr uint32_t REPLY = 1U << 20;
constexpr uint32_t CLEAR = 1U << 21;
constexpr uint32_t EPOCH = 0xffff;

/// @return whether an epoch, which wraps, is one of the first `count`
bool
IsBelow(uint16_t epoch, uint16_t count)
{
    return static_cast<int16_t>(epoch - count) < 0;
}

} // namespace

TypeId
ConWeave::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ConWeave")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("Conweave")
                            .AddConstructor<ConWeave>()
                            .AddAttribute("Cutoff",
                                          "A path that has not replied after this time is left",
                                          TimeValue(MicroSeconds(12)),
                                          MakeTimeAccessor(&ConWeave::m_cutoff),
                                          MakeTimeChecker(NanoSeconds(1)))
                            .AddAttribute("Resume",
                                          "Packets wait this long for those of the old path",
                                          TimeValue(MilliSeconds(2)),
                                          MakeTimeAccessor(&ConWeave::m_resume),
                                          MakeTimeChecker(NanoSeconds(1)))
                            .AddAttribute("PathBusy",
                                          "A path that was left is not taken again for this time",
                                          TimeValue(MicroSeconds(16)),
                                          MakeTimeAccessor(&ConWeave::m_pathBusy),
                                          MakeTimeChecker(NanoSeconds(1)))
                            .AddAttribute("ControlBytes",
                                          "Replies between leaves, headers included [byte]",
                                          UintegerValue(66),
                                          MakeUintegerAccessor(&ConWeave::m_controlBytes),
                                          MakeUintegerChecker<uint16_t>(64, 1024))
                            .AddAttribute("ControlPriority",
                                          "Priority of replies between leaves",
                                          UintegerValue(6),
                                          MakeUintegerAccessor(&ConWeave::m_controlPriority),
                                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1));
    return tid;
}

void
ConWeave::Attach(ProgramContext& context)
{
    NS_LOG_FUNCTION(this);
    m_cutoffPs = static_cast<uint64_t>(m_cutoff.GetPicoSeconds());
    m_resumePs = static_cast<uint64_t>(m_resume.GetPicoSeconds());
    m_pathBusyPs = static_cast<uint64_t>(m_pathBusy.GetPicoSeconds());
    m_context = &context;
    m_network = LeafSpine(context, "ns3::ConWeave");
    m_waiting.assign(context.NumNodes(), {});
    m_busyPs.assign(m_network.Places(), 0);
    m_draws = SprayCursors(context);
}

SwitchProgram::Action
ConWeave::OnArrival(uint32_t node, PortId ingress, FrameId id)
{
    m_routed = nullptr;
    if (!m_network.IsLeaf(node))
    {
        return Action::FORWARD;
    }
    const Frame& frame = m_context->GetFrame(id);
    if (m_network.IsUplink(ingress))
    {
        // A spine that has lost its link to the leaf of dst sends over others, which forward.
        return m_network.LeafOf(frame.dst) == node ? Receive(node, id) : Action::FORWARD;
    }
    const auto uplinks = m_network.UplinksTo(node, frame.dst);
    if (frame.kind == frame_kind::DATA && !uplinks.empty())
    {
        Depart(node, id, uplinks);
    }
    return Action::FORWARD;
}

PortId
ConWeave::Route(uint32_t, const Frame& frame)
{
    return m_routed == &frame ? m_route : NO_PORT;
}

// ---- leaf of the source -----------------------------------------------------------------------

/// @return another uplink at random, of those that are not known to be busy; none if all are
std::optional<PortId>
ConWeave::OtherPort(uint32_t node, std::span<const PortId> uplinks, uint32_t dstLeaf, PortId now)
{
    std::vector<PortId> free;
    for (const PortId uplink : uplinks)
    {
        const size_t place = m_network.Place(node, dstLeaf, m_network.UplinkIndex(uplink));
        if (uplink != now && m_busyPs[place] <= m_context->NowPs())
        {
            free.push_back(uplink);
        }
    }
    if (free.empty())
    {
        return std::nullopt;
    }
    return free[m_draws[node].Below(static_cast<uint32_t>(free.size()))];
}

/// Find the path of a packet that leaves its leaf, and say in its note what it is.
void
ConWeave::Depart(uint32_t node, FrameId id, std::span<const PortId> uplinks)
{
    const Frame& frame = m_context->GetFrame(id);
    const uint32_t dstLeaf = m_network.LeafOf(frame.dst);
    Sender& sender = m_senders[frame.message];
    if (std::find(uplinks.begin(), uplinks.end(), sender.port) == uplinks.end())
    {
        sender.port = uplinks[m_draws[node].Below(static_cast<uint32_t>(uplinks.size()))];
    }
    uint32_t word = DATA | sender.epoch | (sender.awaitsClear ? REROUTED : 0);
    m_routed = &frame;
    m_route = sender.port;
    if (!sender.awaitsClear && !sender.requestPs)
    {
        word |= REQUEST;
        sender.requestPs = m_context->NowPs();
    }
    else if (!sender.awaitsClear && m_context->NowPs() - *sender.requestPs > m_cutoffPs)
    {
        const uint32_t index = m_network.UplinkIndex(sender.port);
        m_busyPs[m_network.Place(node, dstLeaf, index)] = m_context->NowPs() + m_pathBusyPs;
        if (const auto other = OtherPort(node, uplinks, dstLeaf, sender.port))
        {
            NS_LOG_LOGIC("message " << frame.message << " leaves port " << sender.port);
            word |= TAIL;
            sender = {.port = *other,
                      .epoch = static_cast<uint16_t>(sender.epoch + 1),
                      .requestPs = std::nullopt,
                      .awaitsClear = true};
            m_ruleChanges++;
        }
    }
    m_context->Note(id).switchWord = word;
}

// ---- leaf of the destination ------------------------------------------------------------------

/// Send an answer to the leaf that a packet comes from.
void
ConWeave::Tell(uint32_t node, FrameId about, uint32_t word)
{
    const FrameId answer =
        m_context->Answer(node, about, m_controlPriority, static_cast<uint16_t>(m_controlBytes));
    m_context->Note(answer).switchWord = word;
    m_context->Inject(node, answer);
}

SwitchProgram::Action
ConWeave::Receive(uint32_t node, FrameId id)
{
    const uint32_t message = m_context->GetFrame(id).message;
    const uint32_t word = m_context->Note(id).switchWord;
    const auto epoch = static_cast<uint16_t>(word & EPOCH);
    m_context->Note(id).switchWord = 0; // the frame may come back as an answer
    if (word & (REPLY | CLEAR))
    {
        Sender& sender = m_senders[message];
        if (epoch == sender.epoch && (word & CLEAR))
        {
            sender.awaitsClear = false;
        }
        else if (epoch == sender.epoch)
        {
            sender.requestPs.reset();
        }
        return Action::DROP;
    }
    if (!(word & DATA))
    {
        return Action::FORWARD;
    }
    if (word & REQUEST)
    {
        Tell(node, id, REPLY | epoch);
    }
    Receiver& receiver = m_receivers[message];
    const bool isEarly = (word & REROUTED) && !IsBelow(epoch - 1, receiver.tails);
    if (word & TAIL)
    {
        receiver.tails = static_cast<uint16_t>(epoch + 1);
        Tell(node, id, CLEAR | receiver.tails);
        if (!receiver.held.empty())
        {
            receiver.held.insert(receiver.held.begin(), id);
            receiver.isReleased = true;
            m_context->SetTimer(node,
                                m_context->NowPs()); // when the engine has noted that it is held
            return Action::TAKE;
        }
    }
    else if (isEarly || receiver.isReleased)
    {
        if (receiver.held.empty())
        {
            receiver.heldSincePs = m_context->NowPs();
            m_waiting[node].push_back(message);
            m_context->SetTimer(node, m_context->NowPs() + m_resumePs);
        }
        receiver.held.push_back(id);
        return Action::TAKE;
    }
    return Action::FORWARD;
}

void
ConWeave::Release(uint32_t node, uint32_t message)
{
    Receiver& receiver = m_receivers[message];
    for (const FrameId id : receiver.held)
    {
        m_context->Inject(node, id);
    }
    receiver.held.clear();
    receiver.isReleased = false;
}

void
ConWeave::OnTimer(uint32_t node)
{
    m_routed = nullptr;
    std::vector<uint32_t> still;
    for (const uint32_t message : m_waiting[node])
    {
        Receiver& receiver = m_receivers[message];
        const bool isOver = m_context->NowPs() >= receiver.heldSincePs + m_resumePs;
        if (isOver && !receiver.isReleased)
        {
            NS_LOG_LOGIC("message " << message << " waits no longer");
            receiver.tails++;
        }
        if (isOver || receiver.isReleased)
        {
            Release(node, message);
        }
        else
        {
            still.push_back(message);
        }
    }
    m_waiting[node] = std::move(still);
}

} // namespace ns3

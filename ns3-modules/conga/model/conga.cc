// SPDX-License-Identifier: GPL-2.0-only

#include "conga.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/spray-cursors.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Conga");
NS_OBJECT_ENSURE_REGISTERED(Conga);

namespace
{

constexpr uint32_t MOST_QUANTUM_BITS = 5;
constexpr uint32_t MOST_UPLINKS = 1U << 10;

/// What a packet between leaves carries, in the word of its note.
struct Header
{
    uint32_t isSet : 1;
    uint32_t uplink : 10;    ///< Of the source leaf (LBTag)
    uint32_t congestion : 5; ///< Largest so far (CE)
    uint32_t hasFeedback : 1;
    uint32_t fbUplink : 10;    ///< Feedback: of the destination leaf (FB_LBTag)
    uint32_t fbCongestion : 5; ///< Feedback (FB_Metric)
};

} // namespace

TypeId
Conga::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Conga")
            .SetParent<SwitchProgram>()
            .SetGroupName("Conga")
            .AddConstructor<Conga>()
            .AddAttribute("Gap",
                          "Silence after which a flow may take another uplink",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Conga::m_gap),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Entries",
                          "Flowlets in the table of each leaf [1]",
                          UintegerValue(65536),
                          MakeUintegerAccessor(&Conga::m_entries),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
            .AddAttribute("Period",
                          "From one decay of the rate estimators to the next; their time "
                          "constant is Period / Alpha",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Conga::m_period),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Alpha",
                          "Share of the register of a rate estimator that a decay takes [1]",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&Conga::m_alpha),
                          MakeDoubleChecker<double>(0.001, 0.999))
            .AddAttribute("QuantumBits",
                          "Bits of a congestion metric [1]",
                          UintegerValue(3),
                          MakeUintegerAccessor(&Conga::m_quantumBits),
                          MakeUintegerChecker<uint32_t>(1, MOST_QUANTUM_BITS))
            .AddAttribute("Aging",
                          "After this time without news a path counts as uncongested",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&Conga::m_aging),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
Conga::Attach(ProgramContext& context)
{
    NS_LOG_FUNCTION(this);
    m_gapPs = static_cast<uint64_t>(m_gap.GetPicoSeconds());
    m_agingPs = static_cast<uint64_t>(m_aging.GetPicoSeconds());
    m_clock = {.periodPs = static_cast<uint64_t>(m_period.GetPicoSeconds()), .alpha = m_alpha};
    m_context = &context;
    m_network = LeafSpine(context, "ns3::Conga");
    NS_ABORT_MSG_IF(m_network.MostUplinks() > MOST_UPLINKS,
                    "ns3::Conga: a leaf has " << m_network.MostUplinks() << " uplinks, at most "
                                              << MOST_UPLINKS << " are allowed");
    m_rates.assign(context.NumPorts(), {});
    m_toLeaf.assign(m_network.Places(), {});
    m_fromLeaf.assign(m_network.Places(), {});
    m_nextEntry.assign(m_network.Pairs(), 0);
    m_draws = SprayCursors(context);
    m_flowlets.Attach(context, m_entries);
}

/// @return use of a link by its estimator, in units of 2^-QuantumBits
uint32_t
Conga::CongestionOf(PortId port)
{
    const double use = m_rates[port].RateBps(m_context->NowPs(), m_clock) /
                       static_cast<double>(m_context->RateBps(port));
    const double most = (1U << m_quantumBits) - 1;
    return static_cast<uint32_t>(std::min(most, std::floor(use * (most + 1))));
}

// ---- congestion from leaf to leaf -------------------------------------------------------------

/// @return uplink of another leaf to tell it about: in turn, what has changed first (section 3.3)
std::optional<uint32_t>
Conga::NextFeedback(uint32_t leaf, uint32_t otherLeaf)
{
    const uint32_t uplinks = m_network.MostUplinks();
    uint32_t& next = m_nextEntry[m_network.Pair(leaf, otherLeaf)];
    std::optional<uint32_t> known;
    for (uint32_t step = 0; step < uplinks; step++)
    {
        const uint32_t uplink = (next + step) % uplinks;
        const Entry& entry = m_fromLeaf[m_network.Place(leaf, otherLeaf, uplink)];
        if (entry.isNew)
        {
            known = uplink;
            break;
        }
        if (!known && entry.timePs > 0)
        {
            known = uplink;
        }
    }
    next = known ? *known + 1 : next;
    return known;
}

void
Conga::OnDeparture(PortId egress, FrameId id, uint64_t)
{
    const Port& port = m_context->GetPort(egress);
    if (m_context->GetPort(port.peer).isHost)
    {
        return;
    }
    const Frame& frame = m_context->GetFrame(id);
    m_rates[egress].Add(frame.bytes + m_context->FramingBytes(), m_context->NowPs(), m_clock);
    uint32_t& word = m_context->Note(id).switchWord;
    auto header = std::bit_cast<Header>(word);
    // A spine; or a leaf that forwards for one which has lost its link to the leaf of dst.
    if (!m_network.IsLeaf(port.node) || header.isSet)
    {
        header.congestion = std::max<uint32_t>(header.congestion, CongestionOf(egress));
        word = header.isSet ? std::bit_cast<uint32_t>(header) : word;
        return;
    }
    const uint32_t dstLeaf = m_network.LeafOf(frame.dst);
    header = {.isSet = 1,
              .uplink = m_network.UplinkIndex(egress),
              .congestion = CongestionOf(egress)};
    if (const auto uplink = NextFeedback(port.node, dstLeaf))
    {
        Entry& entry = m_fromLeaf[m_network.Place(port.node, dstLeaf, *uplink)];
        header.hasFeedback = 1;
        header.fbUplink = *uplink;
        header.fbCongestion = entry.congestion;
        entry.isNew = false;
    }
    word = std::bit_cast<uint32_t>(header);
}

SwitchProgram::Action
Conga::OnArrival(uint32_t node, PortId ingress, FrameId id)
{
    const Frame& frame = m_context->GetFrame(id);
    if (!m_network.IsUplink(ingress) || m_network.LeafOf(frame.dst) != node)
    {
        return Action::FORWARD;
    }
    uint32_t& word = m_context->Note(id).switchWord;
    const auto header = std::bit_cast<Header>(word);
    if (!header.isSet)
    {
        return Action::FORWARD;
    }
    word = 0; // the frame may come back as an answer
    const uint32_t srcLeaf = m_network.LeafOf(m_context->SourceOf(frame));
    Entry& heard = m_fromLeaf[m_network.Place(node, srcLeaf, header.uplink)];
    heard = {.timePs = m_context->NowPs(),
             .congestion = header.congestion,
             .isNew = heard.isNew || heard.congestion != header.congestion};
    if (header.hasFeedback)
    {
        m_toLeaf[m_network.Place(node, srcLeaf, header.fbUplink)] = {.timePs = m_context->NowPs(),
                                                                     .congestion =
                                                                         header.fbCongestion};
    }
    return Action::FORWARD;
}

// ---- flowlets ---------------------------------------------------------------------------------

/// @return uplink of the least congested path; among equals the last one, or one at random
PortId
Conga::Choose(uint32_t node, std::span<const PortId> uplinks, uint32_t dstLeaf, PortId last)
{
    std::vector<PortId> best;
    uint32_t least = 0;
    for (const PortId uplink : uplinks)
    {
        const size_t place = m_network.Place(node, dstLeaf, m_network.UplinkIndex(uplink));
        const Entry& remote = m_toLeaf[place];
        const bool isKnown = remote.timePs > 0 && m_context->NowPs() - remote.timePs <= m_agingPs;
        const uint32_t congestion = std::max(CongestionOf(uplink), isKnown ? remote.congestion : 0);
        if (best.empty() || congestion < least)
        {
            best.clear();
            least = congestion;
        }
        if (congestion == least)
        {
            best.push_back(uplink);
        }
    }
    const bool mayStay = std::find(best.begin(), best.end(), last) != best.end();
    return mayStay ? last : best[m_draws[node].Below(static_cast<uint32_t>(best.size()))];
}

PortId
Conga::Route(uint32_t node, const Frame& frame)
{
    const auto uplinks = m_network.UplinksTo(node, frame.dst);
    if (uplinks.empty())
    {
        return NO_PORT;
    }
    FlowletTable::Last& flowlet = m_flowlets.Of(node, frame);
    const bool isThere = std::find(uplinks.begin(), uplinks.end(), flowlet.port) != uplinks.end();
    if (!isThere || m_context->NowPs() - flowlet.timePs > m_gapPs)
    {
        const PortId last = flowlet.port;
        flowlet.port = Choose(node, uplinks, m_network.LeafOf(frame.dst), last);
        m_ruleChanges += flowlet.port != last;
    }
    flowlet.timePs = m_context->NowPs();
    return flowlet.port;
}

} // namespace ns3

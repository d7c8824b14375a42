// SPDX-License-Identifier: GPL-2.0-only

#include "conga.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/positive-time.h"
#include "ns3/spray-cursors.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Conga");
NS_OBJECT_ENSURE_REGISTERED(Conga);

namespace
{

/// What a packet carries in its note, packed into 32 bits.
struct Header
{
    uint32_t uplink;                  ///< Of the source leaf (LBTag)
    uint8_t congestion;               ///< Largest so far (CE)
    std::optional<uint32_t> fbUplink; ///< Feedback: of the destination leaf (FB_LBTag)
    uint8_t fbCongestion;             ///< Feedback (FB_Metric)
};

constexpr uint32_t MOST_UPLINKS = 1U << 10;
constexpr uint32_t MOST_QUANTUM_BITS = 5;
constexpr uint32_t IS_SET = 1U << 31;
constexpr uint32_t HAS_FEEDBACK = 1U << 30;

uint32_t
Pack(const Header& header)
{
    return IS_SET | (header.fbUplink ? HAS_FEEDBACK : 0) | (header.uplink << 20) |
           (uint32_t{header.congestion} << 15) | (header.fbUplink.value_or(0) << 5) |
           header.fbCongestion;
}

Header
Unpack(uint32_t word)
{
    Header header{.uplink = (word >> 20) & (MOST_UPLINKS - 1),
                  .congestion = static_cast<uint8_t>((word >> 15) & 31),
                  .fbUplink = std::nullopt,
                  .fbCongestion = static_cast<uint8_t>(word & 31)};
    if (word & HAS_FEEDBACK)
    {
        header.fbUplink = (word >> 5) & (MOST_UPLINKS - 1);
    }
    return header;
}

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
                          "Silence after which a flow may take another uplink, > 0",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Conga::m_gap),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Entries",
                          "Flowlets in the table of each leaf [1]",
                          UintegerValue(65536),
                          MakeUintegerAccessor(&Conga::m_entries),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
            .AddAttribute("Period",
                          "From one decay of the rate estimators to the next, > 0; their time "
                          "constant is Period / Alpha",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Conga::m_period),
                          MakeTimeChecker(Time(0)))
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
                          "After this time without news a path counts as uncongested, > 0",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&Conga::m_aging),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void
Conga::Attach(ProgramDoor& door)
{
    NS_LOG_FUNCTION(this);
    m_gapPs = PositivePs(m_gap, "ns3::Conga: Gap");
    m_agingPs = PositivePs(m_aging, "ns3::Conga: Aging");
    m_clock = {.periodPs = PositivePs(m_period, "ns3::Conga: Period"), .alpha = m_alpha};
    m_door = &door;
    m_network = LeafSpine(door, "ns3::Conga");
    NS_ABORT_MSG_IF(m_network.MostUplinks() > MOST_UPLINKS,
                    "ns3::Conga: a leaf has " << m_network.MostUplinks() << " uplinks, at most "
                                              << MOST_UPLINKS << " are allowed");
    m_rates.assign(door.NumPorts(), {});
    m_leaves.assign(door.NumNodes(), {});
    m_leafIndex.assign(door.NumNodes(), 0);
    m_draws = SprayCursors(door);
    m_flowlets.Attach(door, m_entries);
    uint32_t leaves = 0;
    for (uint32_t node = 0; node < door.NumNodes(); node++)
    {
        m_leafIndex[node] = leaves;
        leaves += m_network.IsLeaf(node);
    }
    for (uint32_t node = 0; node < door.NumNodes(); node++)
    {
        if (m_network.IsLeaf(node))
        {
            const size_t places = size_t{leaves} * m_network.MostUplinks();
            m_leaves[node].toLeaf.resize(places);
            m_leaves[node].fromLeaf.resize(places);
            m_leaves[node].nextEntry.resize(leaves);
        }
    }
}

uint32_t
Conga::Hooks() const
{
    return ARRIVAL | DEPARTURE | ROUTE;
}

/// @return place of an uplink in the tables about a leaf
size_t
Conga::Place(uint32_t leaf, uint32_t uplink) const
{
    return size_t{m_leafIndex[leaf]} * m_network.MostUplinks() + uplink;
}

/// @return use of a link by its estimator, in units of 2^-QuantumBits
uint8_t
Conga::CongestionOf(PortId port)
{
    const double use = m_rates[port].RateBps(m_door->NowPs(), m_clock) /
                       static_cast<double>(m_door->RateBps(port));
    const double most = (1U << m_quantumBits) - 1;
    return static_cast<uint8_t>(std::min(most, std::floor(use * (most + 1))));
}

// ---- congestion from leaf to leaf -------------------------------------------------------------

/// @return uplink of another leaf to tell it about: in turn, what has changed first (section 3.3)
std::optional<uint32_t>
Conga::NextFeedback(Leaf& leaf, uint32_t otherLeaf) const
{
    const uint32_t uplinks = m_network.MostUplinks();
    uint32_t& next = leaf.nextEntry[m_leafIndex[otherLeaf]];
    std::optional<uint32_t> known;
    for (uint32_t step = 0; step < uplinks; step++)
    {
        const uint32_t uplink = (next + step) % uplinks;
        const Entry& entry = leaf.fromLeaf[Place(otherLeaf, uplink)];
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
    const Port& port = m_door->GetPort(egress);
    if (m_door->GetPort(port.peer).isHost)
    {
        return;
    }
    const Frame& frame = m_door->GetFrame(id);
    m_rates[egress].Add(frame.bytes + m_door->FramingBytes(), m_door->NowPs(), m_clock);
    uint32_t& word = m_door->Note(id).switchWord;
    if (!m_network.IsLeaf(port.node))
    {
        Header header = Unpack(word);
        header.congestion = std::max(header.congestion, CongestionOf(egress));
        word = (word & IS_SET) ? Pack(header) : word;
        return;
    }
    Leaf& leaf = m_leaves[port.node];
    const uint32_t dstLeaf = m_network.LeafOf(frame.dst);
    Header header{.uplink = m_network.UplinkIndex(egress),
                  .congestion = CongestionOf(egress),
                  .fbUplink = NextFeedback(leaf, dstLeaf),
                  .fbCongestion = 0};
    if (header.fbUplink)
    {
        Entry& entry = leaf.fromLeaf[Place(dstLeaf, *header.fbUplink)];
        header.fbCongestion = entry.congestion;
        entry.isNew = false;
    }
    word = Pack(header);
}

SwitchProgram::Action
Conga::OnArrival(uint32_t node, PortId ingress, FrameId id)
{
    if (!m_network.IsUplink(ingress))
    {
        return Action::FORWARD;
    }
    uint32_t& word = m_door->Note(id).switchWord;
    if (word & IS_SET)
    {
        const Header header = Unpack(word);
        const uint32_t srcLeaf = m_network.LeafOf(m_door->SourceOf(m_door->GetFrame(id)));
        Entry& heard = m_leaves[node].fromLeaf[Place(srcLeaf, header.uplink)];
        heard = {.timePs = m_door->NowPs(),
                 .congestion = header.congestion,
                 .isNew = heard.isNew || heard.congestion != header.congestion};
        if (header.fbUplink)
        {
            m_leaves[node].toLeaf[Place(srcLeaf, *header.fbUplink)] = {
                .timePs = m_door->NowPs(),
                .congestion = header.fbCongestion};
        }
        word = 0; // the frame may come back as an answer
    }
    return Action::FORWARD;
}

// ---- flowlets ---------------------------------------------------------------------------------

/// @return uplink of the least congested path; among equals the last one, or one at random
PortId
Conga::Choose(uint32_t node, Routing::Group group, uint32_t dstLeaf, PortId last)
{
    const PortId* members = m_door->Routes().Members(group);
    std::vector<PortId> best;
    uint8_t least = 0;
    for (uint32_t i = 0; i < group.size; i++)
    {
        const Entry& remote =
            m_leaves[node].toLeaf[Place(dstLeaf, m_network.UplinkIndex(members[i]))];
        const bool isKnown = remote.timePs > 0 && m_door->NowPs() - remote.timePs <= m_agingPs;
        const uint8_t congestion =
            std::max(CongestionOf(members[i]), isKnown ? remote.congestion : uint8_t{0});
        if (best.empty() || congestion < least)
        {
            best.clear();
            least = congestion;
        }
        if (congestion == least)
        {
            best.push_back(members[i]);
        }
    }
    const bool mayStay = std::find(best.begin(), best.end(), last) != best.end();
    return mayStay ? last : best[m_draws[node].Below(static_cast<uint32_t>(best.size()))];
}

PortId
Conga::Route(uint32_t node, const Frame& frame)
{
    const uint32_t dstLeaf = m_network.LeafOf(frame.dst);
    if (!m_network.IsLeaf(node) || node == dstLeaf)
    {
        return NO_PORT;
    }
    const uint32_t way = m_door->Routes().WayTo(node, frame.dst);
    if (way & Routing::DIRECT)
    {
        return NO_PORT;
    }
    const Routing::Group group = m_door->Routes().GetGroup(way);
    const PortId* members = m_door->Routes().Members(group);
    FlowletTable::Last& flowlet = m_flowlets.Of(node, frame);
    const bool isThere = std::find(members, members + group.size, flowlet.port) !=
                         members + group.size;
    if (!isThere || m_door->NowPs() - flowlet.timePs > m_gapPs)
    {
        const PortId last = flowlet.port;
        flowlet.port = Choose(node, group, dstLeaf, last);
        m_moves += flowlet.port != last;
    }
    flowlet.timePs = m_door->NowPs();
    return flowlet.port;
}

uint64_t
Conga::RuleChanges() const
{
    return m_moves;
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "in-network-reduction.h"

#include "reduction-transport.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("InNetworkReduction");
NS_OBJECT_ENSURE_REGISTERED(InNetworkReduction);

TypeId
InNetworkReduction::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::InNetworkReduction")
            .SetParent<SwitchProgram>()
            .SetGroupName("Reduction")
            .AddConstructor<InNetworkReduction>()
            .AddAttribute("Slots",
                          "Chunks that a switch can add up at a time, of all groups [packet]",
                          UintegerValue(1024),
                          MakeUintegerAccessor(&InNetworkReduction::m_slots),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Transport",
                          "Which transport of the scenario it serves, from 0 [1]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&InNetworkReduction::m_transport),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

void
InNetworkReduction::Attach(ProgramContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    const auto at = [this](uint32_t i) -> const Message& { return m_context->GetMessage(i); };
    m_groups.emplace(context.NumMessages(), at, m_transport);
    m_usedSlots.assign(context.NumNodes(), 0);
}

/// @return port by which the host of a rank sends: of those nearest to rank 0 the same for all
PortId
InNetworkReduction::FirstPort(uint32_t group, uint32_t rank) const
{
    const auto& its = (*m_groups)[group];
    const Message& message = m_context->GetMessage(its.first + rank);
    const uint32_t other = m_context->GetMessage(its.first + (rank == 0 ? 1 : 0)).src;
    const auto nearest = m_context->NearestPorts(message.src, other);
    NS_ABORT_MSG_IF(nearest.empty(),
                    "ns3::InNetworkReduction: no path from the host of flow " << message.id
                                                                              << " to rank 0");
    return nearest[group % nearest.size()];
}

const InNetworkReduction::Tree&
InNetworkReduction::TreeOf(uint32_t group)
{
    const auto [found, isNew] = m_trees.try_emplace(group);
    Tree& tree = found->second;
    if (!isNew)
    {
        return tree;
    }
    const auto& its = (*m_groups)[group];
    const uint32_t target = m_context->GetMessage(its.first).src;
    for (uint32_t rank = 0; rank < its.ranks; rank++)
    {
        PortId ingress = m_context->GetPort(FirstPort(group, rank)).peer;
        while (!m_context->GetPort(ingress).isHost)
        {
            const uint32_t node = m_context->GetPort(ingress).node;
            const uint32_t nextHop = m_context->Routes().NextHopTo(node, target);
            NS_ABORT_MSG_IF(nextHop == Routing::NO_GROUP,
                            "ns3::InNetworkReduction: no path from switch "
                                << m_context->GetNode(node).id << " to rank 0");
            const auto ports = m_context->Routes().Ports(nextHop);
            Branch& branch = tree[node];
            branch.below |= RankSet::Of(rank);
            branch.children[ingress] |= RankSet::Of(rank);
            branch.up = ports[group % ports.size()];
            ingress = m_context->GetPort(branch.up).peer;
            branch.isRoot = m_context->GetPort(ingress).isHost;
        }
    }
    return tree;
}

/// @return what a switch has of a group, from its first chunk on
InNetworkReduction::Share&
InNetworkReduction::ShareOf(uint32_t node, uint32_t group, FrameId id)
{
    const auto [found, isNew] = m_shares.try_emplace({node, group});
    Share& share = found->second;
    if (isNew)
    {
        const uint32_t window = m_context->GetFrame(id).aux;
        share.slots = m_usedSlots[node] + window <= m_slots ? window : 0;
        m_usedSlots[node] += share.slots;
        share.left = m_context->Note(id).switchWord;
        share.finished.resize(share.left);
        NS_LOG_LOGIC("switch " << node << ", group " << group << ": " << share.slots << " slots");
    }
    return share;
}

SwitchProgram::Action
InNetworkReduction::OnArrival(uint32_t node, PortId, FrameId id)
{
    Frame& frame = m_context->GetFrame(id);
    const auto group = m_groups->GroupOf(frame.message);
    if (!group || frame.kind != frame_kind::DATA || !TreeOf(*group).contains(node))
    {
        return Action::FORWARD;
    }
    if (frame.flags & reduction_flag::RESULT)
    {
        if (!(frame.flags & reduction_flag::MULTICAST))
        {
            return Action::FORWARD;
        }
        CopyDown(node, *group, id);
        return Action::DROP;
    }
    const auto& its = (*m_groups)[*group];
    frame.message = ReductionGroups::ResultOf(its, 0); // one that ends at the host of rank 0
    if (frame.flags & frame_flag::RETRANSMITTED)
    {
        Pass(node, *group, frame.packet);
        return Action::FORWARD;
    }
    return Add(node, *group, id);
}

/// Add a chunk to what has come before, if this switch does that for its group.
SwitchProgram::Action
InNetworkReduction::Add(uint32_t node, uint32_t group, FrameId id)
{
    const uint32_t chunk = m_context->GetFrame(id).packet;
    Share& share = ShareOf(node, group, id);
    if (share.slots == 0 || share.finished[chunk])
    {
        return Action::FORWARD;
    }
    const RankSet ranks(m_context->Note(id).words);
    const auto [found, isNew] = share.sums.try_emplace(chunk, Slot{id, ranks});
    Slot& slot = found->second;
    if (!isNew)
    {
        if (slot.ranks.Meets(ranks))
        {
            return Action::DROP;
        }
        slot.ranks |= ranks;
    }
    if (slot.ranks != TreeOf(group).at(node).below)
    {
        return isNew ? Action::TAKE : Action::DROP;
    }
    const Slot whole = slot;
    share.sums.erase(found);
    Settle(node, group, chunk);
    return Complete(node, group, whole, id);
}

/// All ranks below have given theirs: the sum goes up, or from the root down.
SwitchProgram::Action
InNetworkReduction::Complete(uint32_t node, uint32_t group, const Slot& slot, FrameId last)
{
    if (slot.frame != last)
    {
        m_context->Discard(node, slot.frame);
    }
    slot.ranks.Store(m_context->Note(last).words);
    if (!TreeOf(group).at(node).isRoot)
    {
        return Action::FORWARD;
    }
    m_context->GetFrame(last).flags |= reduction_flag::RESULT | reduction_flag::MULTICAST;
    CopyDown(node, group, last);
    return Action::DROP;
}

/// A chunk is sent again: what this switch has of it goes on, and rank 0 adds it up.
void
InNetworkReduction::Pass(uint32_t node, uint32_t group, uint32_t chunk)
{
    const auto its = m_shares.find({node, group});
    if (its == m_shares.end() || its->second.finished[chunk])
    {
        return;
    }
    const auto slot = its->second.sums.find(chunk);
    if (slot != its->second.sums.end())
    {
        slot->second.ranks.Store(m_context->Note(slot->second.frame).words);
        m_context->Inject(node, slot->second.frame);
        its->second.sums.erase(slot);
    }
    Settle(node, group, chunk);
}

/// A chunk is finished here; with the last one the slots are free for other groups.
void
InNetworkReduction::Settle(uint32_t node, uint32_t group, uint32_t chunk)
{
    Share& share = m_shares.at({node, group});
    share.finished[chunk] = true;
    if (--share.left == 0)
    {
        m_usedSlots[node] -= share.slots;
        share.slots = 0;
    }
}

void
InNetworkReduction::CopyDown(uint32_t node, uint32_t group, FrameId id)
{
    const auto& its = (*m_groups)[group];
    for (const auto& [port, ranks] : TreeOf(group).at(node).children)
    {
        const FrameId copy = m_context->Copy(node, id);
        Frame& frame = m_context->GetFrame(copy);
        const uint32_t rank = ranks.First();
        frame.message = ReductionGroups::ResultOf(its, rank);
        frame.dst = m_context->GetMessage(its.first + rank).src;
        m_context->Inject(node, copy);
    }
}

PortId
InNetworkReduction::Route(uint32_t node, const Frame& frame)
{
    const auto group = m_groups->GroupOf(frame.message);
    const bool isToOne =
        (frame.flags & reduction_flag::RESULT) && !(frame.flags & reduction_flag::MULTICAST);
    if (!group || frame.kind != frame_kind::DATA || isToOne)
    {
        return NO_PORT;
    }
    const Tree& tree = TreeOf(*group);
    const auto branch = tree.find(node);
    if (branch == tree.end())
    {
        return NO_PORT;
    }
    if (!(frame.flags & reduction_flag::RESULT))
    {
        return branch->second.up;
    }
    const auto& its = (*m_groups)[*group];
    const uint32_t rank = (frame.message + 1 - its.first) % its.ranks;
    for (const auto& [port, ranks] : branch->second.children)
    {
        if (ranks.Has(rank))
        {
            return port;
        }
    }
    return NO_PORT;
}

void
InNetworkReduction::OnRoutesChanged()
{
    m_trees.clear();
    for (auto& [place, share] : m_shares)
    {
        m_usedSlots[place.first] -= share.slots;
        share.slots = 0;
    }
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "wire-losses.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace fabric
{

WireLosses::WireLosses(FabricNetwork& network)
    : m_network(network)
{
}

WireLosses::Direction&
WireLosses::At(PortId port)
{
    const auto found = m_directions.find(port);
    if (found != m_directions.end())
    {
        return found->second;
    }
    m_network.ports[port].lossy = true;
    Direction fresh{RandomCursor(m_network.StreamOfPort(port, RandomUse::FRAME_LOSS)),
                    RandomCursor(m_network.StreamOfPort(port, RandomUse::BIT_ERROR))};
    return m_directions.emplace(port, std::move(fresh)).first->second;
}

void
WireLosses::Build(const FabricTables& tables)
{
    for (const auto& row : tables.links)
    {
        if (row.lossRatio == 0 && row.bitErrorRatio == 0)
        {
            continue;
        }
        const PortId end = m_network.FindPort(row.nodeA, row.nodeB, row.parallel);
        for (const PortId port : {end, m_network.ports[end].peer})
        {
            At(port).lossRatio = row.lossRatio;
            At(port).bitErrorRatio = row.bitErrorRatio;
        }
    }
    for (const auto& row : tables.drops)
    {
        const PortId sender = m_network.FindPort(row.node, row.peer, row.parallel);
        NS_ABORT_MSG_IF(sender == NO_PORT,
                        "drops: there is no link from node " << row.node << " to node " << row.peer
                                                             << " (parallel " << row.parallel
                                                             << ")");
        NS_ABORT_MSG_IF(row.ordinal <= 0, "drops: ordinal is " << row.ordinal << ", not > 0");
        At(m_network.ports[sender].peer).ordinals.push_back(static_cast<uint64_t>(row.ordinal));
    }
    for (const auto& row : tables.lossChanges)
    {
        const PortId sender = m_network.FindPort(row.node, row.peer, row.parallel);
        NS_ABORT_MSG_IF(sender == NO_PORT,
                        "loss_changes: there is no link from node "
                            << row.node << " to node " << row.peer << " (parallel " << row.parallel
                            << ")");
        const WorldPs timePs(static_cast<uint64_t>(row.timePs));
        At(m_network.ports[sender].peer)
            .changes.push_back({timePs, row.lossRatio, row.bitErrorRatio});
    }
}

void
WireLosses::Direction::Follow(WorldPs nowPs)
{
    for (; nextChange < changes.size() && changes[nextChange].timePs <= nowPs; nextChange++)
    {
        lossRatio = changes[nextChange].lossRatio;
        bitErrorRatio = changes[nextChange].bitErrorRatio;
    }
}

void
WireLosses::UseModel(uint8_t linkClass, LossModel* model)
{
    m_models.resize(std::max<size_t>(m_models.size(), linkClass + 1), nullptr);
    m_models[linkClass] = model;
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        if (m_network.ports[port].linkClass == linkClass)
        {
            m_network.ports[port].lossy = true;
        }
    }
}

bool
WireLosses::CanLose(PortId port) const
{
    const uint8_t linkClass = m_network.ports[port].linkClass;
    return m_directions.contains(port) || (linkClass < m_models.size() && m_models[linkClass]);
}

bool
WireLosses::Any() const
{
    return !m_directions.empty() ||
           std::any_of(m_models.begin(), m_models.end(), [](auto model) { return model; });
}

bool
WireLosses::Loses(PortId port, const Frame& frame, WorldPs nowPs)
{
    auto fate = LossModel::Fate::ARRIVES;
    if (const auto found = m_directions.find(port); found != m_directions.end())
    {
        found->second.Follow(nowPs);
        fate = Judge(found->second, frame);
    }
    const uint8_t linkClass = m_network.ports[port].linkClass;
    if (fate == LossModel::Fate::ARRIVES && linkClass < m_models.size() && m_models[linkClass])
    {
        fate = m_models[linkClass]->Judge(port, frame);
    }
    m_network.counters[port].lostFrames += fate == LossModel::Fate::LOST;
    m_network.counters[port].corruptFrames += fate == LossModel::Fate::CORRUPT;
    return fate != LossModel::Fate::ARRIVES;
}

LossModel::Fate
WireLosses::Judge(Direction& direction, const Frame& frame)
{
    if (!direction.ordinals.empty() && frame.kind == frame_kind::DATA)
    {
        direction.seen++;
        if (std::binary_search(direction.ordinals.begin(),
                               direction.ordinals.end(),
                               direction.seen))
        {
            return LossModel::Fate::LOST;
        }
    }
    if (direction.lossRatio > 0 && direction.losses.Real() < direction.lossRatio)
    {
        return LossModel::Fate::LOST;
    }
    if (direction.bitErrorRatio > 0)
    {
        // 1 - (1 - ratio)^bits, without losing the digits of a small ratio
        const double corrupt =
            -std::expm1(8.0 * frame.bytes * std::log1p(-direction.bitErrorRatio));
        if (direction.errors.Real() < corrupt)
        {
            return LossModel::Fate::CORRUPT;
        }
    }
    return LossModel::Fate::ARRIVES;
}

} // namespace fabric
} // namespace ns3

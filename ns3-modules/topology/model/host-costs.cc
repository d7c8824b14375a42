// SPDX-License-Identifier: GPL-2.0-only

#include "host-costs.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

/// One thing after the other. @return when this one is over
WorldPs
Serve(WorldPs& freePs, WorldPs nowPs, uint64_t timePs)
{
    freePs = std::max(freePs, nowPs) + timePs;
    return freePs;
}

} // namespace

HostCosts::HostCosts(std::vector<HostModel> models, std::vector<uint64_t> lineBps)
    : m_lineBps(std::move(lineBps)),
      m_models(std::move(models))
{
    const auto isFree = [](const HostModel& model) { return model.IsFree(); };
    if (!std::ranges::all_of(m_models, isFree))
    {
        m_interfaces.resize(m_models.size() * m_lineBps.size());
    }
}

const HostModel*
HostCosts::ModelOf(uint32_t transport) const
{
    return !AreFree() && transport < m_models.size() && !m_models[transport].IsFree()
               ? &m_models[transport]
               : nullptr;
}

HostCosts::Interface&
HostCosts::InterfaceOf(uint32_t transport, uint32_t host)
{
    return m_interfaces[transport * m_lineBps.size() + host];
}

bool
HostCosts::Kept::Use(uint32_t peer, std::optional<uint64_t> room)
{
    const auto found = m_places.find(peer);
    const bool wasKept = found != m_places.end();
    if (wasKept)
    {
        m_order.erase(found->second);
    }
    else if (room && m_order.size() == *room)
    {
        m_places.erase(m_order.back());
        m_order.pop_back();
    }
    m_order.push_front(peer);
    m_places[peer] = m_order.begin();
    return wasKept;
}

/// @return time that an interface needs before it can do anything for a peer [ps]
uint64_t
HostCosts::LoadPs(const HostModel& model, Interface& its, uint32_t peer) const
{
    const bool costs = model.missTimePs > 0;
    return costs && !its.kept.Use(peer, model.connections) ? model.missTimePs : 0;
}

WorldPs
HostCosts::Start(const HostMessage& message, WorldPs nowPs)
{
    const HostModel* model = ModelOf(message.transport);
    if (!model)
    {
        return nowPs;
    }
    if (message.index >= m_stages.size())
    {
        m_stages.resize(message.index + size_t{1}, Stage::NEW);
    }
    Stage& stage = m_stages[message.index];
    Interface& its = InterfaceOf(message.transport, message.src);
    if (stage == Stage::POSTED)
    {
        return nowPs;
    }
    if (stage == Stage::NEW && model->outstanding)
    {
        Connection& connection = its.connections[message.dst];
        if (connection.underWay == *model->outstanding)
        {
            connection.waiting.push_back(message.index);
            return WorldPs::Never();
        }
        connection.underWay++;
    }
    stage = Stage::POSTED;
    const WorldPs postedPs = Serve(its.hostFreePs, nowPs, model->messageTimePs);
    const uint64_t firstPs = LoadPs(*model, its, message.dst) + model->requestTimePs;
    const WorldPs requestedPs = Serve(its.requestFreePs, postedPs, firstPs);
    const uint64_t furtherPs = (model->Requests(message.bytes) - 1) * model->requestTimePs;
    its.requestFreePs += furtherPs;
    const uint64_t movePs = model->BusPs(message.bytes);
    const uint64_t linePs = MovePs(message.bytes, m_lineBps[message.src]);
    const WorldPs readPs = Serve(its.readFreePs, requestedPs, movePs);
    const WorldPs paced = readPs - std::min(movePs, linePs);
    return std::max(paced, requestedPs + LatenessPs(*model, message, furtherPs)) +
           model->sendDelayPs;
}

/// @return how much later than its first request a message begins for its last one to be in time
uint64_t
HostCosts::LatenessPs(const HostModel& model, const HostMessage& message, uint64_t furtherPs) const
{
    const uint64_t further = model.Requests(message.bytes) - 1;
    const uint64_t beforeBytes = further * model.requestSizeBytes.value_or(0);
    const uint64_t sendPs = MovePs(beforeBytes, m_lineBps[message.src]);
    return furtherPs - std::min(furtherPs, sendPs);
}

WorldPs
HostCosts::Deliver(const HostMessage& message, WorldPs nowPs)
{
    const HostModel* model = ModelOf(message.transport);
    if (!model)
    {
        return nowPs;
    }
    Interface& its = InterfaceOf(message.transport, message.dst);
    // A message alone is written as it comes; one that comes behind another waits for the bus.
    WorldPs writtenPs = nowPs;
    if (its.writtenPs)
    {
        writtenPs = std::max(nowPs, *its.writtenPs + model->BusPs(message.bytes));
    }
    its.writtenPs = writtenPs;
    const uint64_t timePs = LoadPs(*model, its, message.src) + model->deliveryTimePs;
    return Serve(its.deliveredFreePs, writtenPs, timePs) + model->deliveryDelayPs;
}

HostCosts::Completed
HostCosts::Complete(const HostMessage& message, WorldPs nowPs)
{
    const HostModel* model = ModelOf(message.transport);
    if (!model)
    {
        return {nowPs, std::nullopt};
    }
    const WorldPs endPs = nowPs + model->completionDelayPs;
    if (!model->outstanding)
    {
        return {endPs, std::nullopt};
    }
    Connection& connection =
        InterfaceOf(message.transport, message.src).connections[message.dst];
    if (connection.waiting.empty())
    {
        connection.underWay--;
        return {endPs, std::nullopt};
    }
    const uint32_t next = connection.waiting.front();
    connection.waiting.pop_front();
    m_stages[next] = Stage::HAS_PLACE;
    return {endPs, next};
}

} // namespace fabric
} // namespace ns3

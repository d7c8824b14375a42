// SPDX-License-Identifier: GPL-2.0-only

#include "hedera.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Hedera");
NS_OBJECT_ENSURE_REGISTERED(Hedera);

TypeId
Hedera::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Hedera")
            .SetParent<SwitchProgram>()
            .SetGroupName("Hedera")
            .AddConstructor<Hedera>()
            .AddAttribute("Interval",
                          "From one placement to the next",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&Hedera::m_interval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("ElephantShare",
                          "Least share of its host's link that an elephant has sent in an "
                          "interval [1]",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Hedera::m_elephantShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Placement",
                          "How paths are found",
                          EnumValue(Placement::ANNEALING),
                          MakeEnumAccessor<Placement>(&Hedera::m_placement),
                          MakeEnumChecker(Placement::ANNEALING,
                                          "Annealing",
                                          Placement::FIRST_FIT,
                                          "FirstFit"))
            .AddAttribute("Iterations",
                          "Steps of the annealing at each placement [1]",
                          UintegerValue(10'000),
                          MakeUintegerAccessor(&Hedera::m_iterations),
                          MakeUintegerChecker<uint32_t>(1, 100'000'000))
            .AddAttribute("AnnealingFactor",
                          "A step of energy e is taken with probability exp(-e AnnealingFactor T0 "
                          "/ T) [1]; 0.5 for 16 hosts and 1000 for more in the source",
                          DoubleValue(1000),
                          MakeDoubleAccessor(&Hedera::m_annealingFactor),
                          MakeDoubleChecker<double>(0.0));
    return tid;
}

void
Hedera::Attach(ProgramContext& context)
{
    NS_LOG_FUNCTION(this);
    m_intervalPs = static_cast<uint64_t>(m_interval.GetPicoSeconds());
    m_context = &context;
    m_annealing.emplace(context);
}

SwitchProgram::Action
Hedera::OnArrival(uint32_t node, PortId ingress, FrameId id)
{
    const Port& peer = m_context->GetPort(m_context->GetPort(ingress).peer);
    const Frame& frame = m_context->GetFrame(id);
    if (peer.isHost && frame.kind == frame_kind::DATA)
    {
        Flow& flow = m_flows[frame.message];
        if (flow.linkBps == 0)
        {
            flow.message = frame.message;
            flow.firstSwitch = node;
            flow.from = ingress;
            flow.dst = frame.dst;
            flow.linkBps = m_context->RateBps(ingress);
        }
        flow.sentBytes += frame.bytes + m_context->FramingBytes();
        if (!m_isTimed)
        {
            m_isTimed = true;
            m_context->SetTimer(0, m_context->NowPs() + m_intervalPs);
        }
    }
    return Action::FORWARD;
}

PortId
Hedera::Route(uint32_t node, const Frame& frame)
{
    if (frame.kind != frame_kind::DATA)
    {
        return NO_PORT;
    }
    const auto flow = m_flows.find(frame.message);
    if (flow == m_flows.end() || flow->second.dst != frame.dst)
    {
        return NO_PORT;
    }
    for (const PortId port : flow->second.path)
    {
        if (m_context->GetPort(port).node == node)
        {
            return port;
        }
    }
    return NO_PORT;
}

/// Paths that were given may have gone: all messages are hashed until the next placement.
void
Hedera::OnRoutesChanged()
{
    for (auto& [message, flow] : m_flows)
    {
        flow.path.clear();
    }
}

void
Hedera::OnTimer(uint32_t)
{
    std::vector<Flow*> elephants;
    const double seconds = static_cast<double>(m_intervalPs) * 1e-12;
    m_isTimed = !m_flows.empty();
    for (auto it = m_flows.begin(); it != m_flows.end();)
    {
        Flow& flow = it->second;
        const double share =
            static_cast<double>(flow.sentBytes) * 8 / (static_cast<double>(flow.linkBps) * seconds);
        const bool isSilent = flow.sentBytes == 0;
        flow.sentBytes = 0;
        if (!isSilent && share >= m_elephantShare)
        {
            elephants.push_back(&flow);
        }
        else
        {
            flow.path.clear();
        }
        it = isSilent ? m_flows.erase(it) : std::next(it);
    }
    Place(elephants);
    if (m_isTimed)
    {
        m_context->SetTimer(0, m_context->NowPs() + m_intervalPs);
    }
}

bool
Hedera::HasRoom(PortId port, double rateBps) const
{
    const auto linkBps = static_cast<double>(m_context->RateBps(port));
    return m_reservedBps[port] + rateBps <= linkBps * (1 + 1e-9);
}

void
Hedera::Reserve(const Flow& flow)
{
    for (const PortId port : flow.path)
    {
        m_reservedBps[port] += flow.demandBps;
    }
}

/// Extend a path from a switch by the first of the shortest paths that has room. @return success
bool
Hedera::FindPath(uint32_t node, Flow& flow) const
{
    const uint32_t nextHop = m_context->Routes().NextHopTo(node, flow.dst);
    if (nextHop == Routing::NO_GROUP)
    {
        return false;
    }
    for (const PortId port : m_context->Routes().Ports(nextHop))
    {
        const Port& peer = m_context->GetPort(m_context->GetPort(port).peer);
        if (!HasRoom(port, flow.demandBps))
        {
            continue;
        }
        flow.path.push_back(port);
        if (peer.isHost || FindPath(peer.node, flow))
        {
            return true;
        }
        flow.path.pop_back();
    }
    return false;
}

void
Hedera::Place(const std::vector<Flow*>& elephants)
{
    std::vector<Demand> demands;
    for (const Flow* flow : elephants)
    {
        // A host has a link in each plane, and all paths of a message end with the same one.
        const auto path = Walk(*flow, 0);
        demands.push_back({.src = flow->from, .dst = path.empty() ? NO_PORT : path.back()});
    }
    EstimateDemands(demands);
    for (size_t i = 0; i < elephants.size(); i++)
    {
        elephants[i]->demandBps = demands[i].rate * static_cast<double>(elephants[i]->linkBps);
    }
    m_placement == Placement::ANNEALING ? PlaceAnnealed(elephants) : PlaceFirstFit(elephants);
}

/// @return the links of a flow on a way, empty if its destination cannot be reached
std::vector<PortId>
Hedera::Walk(const Flow& flow, uint32_t way) const
{
    std::vector<PortId> path;
    for (uint32_t node = flow.firstSwitch;;)
    {
        const uint32_t nextHop = m_context->Routes().NextHopTo(node, flow.dst);
        if (nextHop == Routing::NO_GROUP)
        {
            return {};
        }
        const auto ports = m_context->Routes().Ports(nextHop);
        const auto n = static_cast<uint32_t>(ports.size());
        path.push_back(ports[way % n]);
        way /= n;
        const Port& peer = m_context->GetPort(m_context->GetPort(path.back()).peer);
        if (peer.isHost)
        {
            return path;
        }
        node = peer.node;
    }
}

void
Hedera::PlaceAnnealed(const std::vector<Flow*>& elephants)
{
    std::vector<Annealing::Flow> flows;
    for (const Flow* flow : elephants)
    {
        flows.push_back({.dst = flow->dst, .demandBps = flow->demandBps});
    }
    m_annealing->Improve(
        flows,
        [&](size_t flow, uint32_t way) { return Walk(*elephants[flow], way); },
        m_iterations,
        m_annealingFactor);
    for (Flow* flow : elephants)
    {
        auto path = Walk(*flow, m_annealing->WayTo(flow->dst));
        if (path != flow->path)
        {
            NS_LOG_LOGIC("message " << flow->message << " is placed");
            flow->path = std::move(path);
            m_ruleChanges++;
        }
    }
}

void
Hedera::PlaceFirstFit(const std::vector<Flow*>& elephants)
{
    m_reservedBps.assign(m_context->NumPorts(), 0);
    std::vector<Flow*> unplaced;
    for (Flow* elephant : elephants)
    {
        Flow& flow = *elephant;
        const bool stays =
            !flow.path.empty() && std::all_of(flow.path.begin(), flow.path.end(), [&](PortId port) {
                return HasRoom(port, flow.demandBps);
            });
        stays ? Reserve(flow) : unplaced.push_back(&flow);
    }
    for (Flow* flow : unplaced)
    {
        flow->path.clear();
        if (FindPath(flow->firstSwitch, *flow))
        {
            NS_LOG_LOGIC("message " << flow->message << " is placed");
            Reserve(*flow);
            m_ruleChanges++;
        }
    }
}

} // namespace ns3

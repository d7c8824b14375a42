// SPDX-License-Identifier: GPL-2.0-only

#include "scored-entropy.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("ScoredEntropy");
NS_OBJECT_ENSURE_REGISTERED(ScoredEntropy);

TypeId
ScoredEntropy::GetTypeId()
{
    using T = ScoredEntropy;
    static TypeId tid =
        TypeId("ns3::ScoredEntropy")
            .SetParent<PathSelector>()
            .SetGroupName("PathSelector")
            .AddConstructor<ScoredEntropy>()
            .AddAttribute("Paths",
                          "Number of entropies [1], 0 = number of paths",
                          UintegerValue(0),
                          MakeUintegerAccessor(&T::m_paths),
                          MakeUintegerChecker<uint32_t>(0, 65536))
            .AddAttribute("OutlierSigmas",
                          "An entropy is left out if its trims or losses are so many standard "
                          "deviations above what the mean one would have [1]",
                          DoubleValue(3),
                          MakeDoubleAccessor(&T::m_outlierSigmas),
                          MakeDoubleChecker<double>(0.5, 100))
            .AddAttribute("ExcludedRounds",
                          "For how many rounds of all entropies, twice as many each time [1]",
                          UintegerValue(16),
                          MakeUintegerAccessor(&T::m_excludedRounds),
                          MakeUintegerChecker<uint32_t>(1, 65536));
    return tid;
}

void
ScoredEntropy::Attach(HostContext& host)
{
    PathSelector::Attach(host);
    m_rules = {.outlierSigmas = m_outlierSigmas, .excludedRounds = m_excludedRounds};
}

void
ScoredEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    m_flows.Open(slot, ScoredFlow{DrawsOf(message), message, {}});
}

uint16_t
ScoredEntropy::Next(uint32_t slot, PortId port)
{
    ScoredFlow& flow = m_flows[slot];
    const auto isIts = [port](const ScoredPlane& plane) { return plane.port == port; };
    auto plane = std::find_if(flow.planes.begin(), flow.planes.end(), isIts);
    if (plane == flow.planes.end())
    {
        const uint32_t paths = m_paths ? m_paths : Host().NumPaths(flow.message, port);
        plane = flow.planes.insert(plane, ScoredPlane{port, PathScores(paths)});
    }
    return plane->scores.Next(m_rules, flow.draws);
}

void
ScoredEntropy::Report(uint32_t slot, const PathReport& report)
{
    for (ScoredPlane& plane : m_flows[slot].planes)
    {
        if (plane.port == report.port)
        {
            plane.scores.Report(report.entropy, report.fate);
        }
    }
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "steady-state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr double FEWEST_PACKETS = 8; ///< Of each message in a window
constexpr double LIKE_PACKETS = 3;   ///< What differs by no more than this is alike,
constexpr double LIKE_TOLERANCES = 2; ///< or by no more than so many tolerances of all packets
constexpr double ERROR_SHARE = 0.25; ///< Of the tolerance, for each state; several may add up

} // namespace

/// Rounded; of what is sent and what arrives in a state that is not yet quite steady, the mean.
uint64_t
SteadyState::Jump::Grown(uint64_t before, uint64_t after) const
{
    const uint64_t overPs = to->timePs - from->timePs;
    const auto grown = static_cast<unsigned __int128>(after - before) * sincePs;
    return static_cast<uint64_t>((grown + overPs / 2) / overPs);
}

SteadyState::SteadyState(double tolerance)
    : m_tolerance(tolerance)
{
}

void
SteadyState::Restart(uint64_t windowPs)
{
    m_firstWindowPs = windowPs;
    m_windowPs = windowPs;
    m_skippedPs = 0;
    m_history.clear();
}

void
SteadyState::Skipped(uint64_t byPs)
{
    m_skippedPs += byPs;
}

void
SteadyState::Add(Snapshot snapshot)
{
    if (m_history.size() == 2 * WINDOWS + 1)
    {
        for (size_t i = 0; i <= WINDOWS; i++)
        {
            std::swap(m_history[i], m_history[2 * i]);
        }
        m_history.resize(WINDOWS + 1);
    }
    m_history.push_back(std::move(snapshot));
    if (m_history.size() == 2 * WINDOWS + 1)
    {
        m_windowPs *= 2;
    }
}

/// @return packets of a message in what was measured: the mean of those sent and those arrived
double
SteadyState::Packets(size_t flow, size_t first) const
{
    const FlowTotals& from = m_history[first].flows[flow];
    const FlowTotals& to = m_history.back().flows[flow];
    return static_cast<double>(to.sent - from.sent + to.arrived - from.arrived) / 2;
}

/// @return packets by which the rate of a message may be wrong, below 0 if it is not steady
double
SteadyState::ErrorPackets(size_t flow, size_t first) const
{
    constexpr double UNSTEADY = -1;
    const size_t last = m_history.size() - 1;
    const auto at = [&](size_t i) -> const FlowTotals& { return m_history[i].flows[flow]; };
    const auto arrived = [&](size_t a, size_t b) {
        return static_cast<double>(at(b).arrived - at(a).arrived);
    };
    const double all = arrived(first, last);
    const double mean = all / static_cast<double>(last - first);
    if (mean < FEWEST_PACKETS || at(last).timeouts != at(first).timeouts)
    {
        return UNSTEADY;
    }
    double apart = 1; // what is counted in packets is no more exact
    for (size_t i = first; i < last; i++)
    {
        apart = std::max(apart, std::abs(arrived(i, i + 1) - mean));
    }
    const size_t middle = first + (last - first) / 2;
    apart = std::max(apart, std::abs(arrived(first, middle) - arrived(middle, last)));
    const auto before = static_cast<double>(at(first).sent - at(first).arrived);
    const auto after = static_cast<double>(at(last).sent - at(last).arrived);
    apart = std::max(apart, std::abs(after - before));
    return apart > std::max(LIKE_PACKETS, LIKE_TOLERANCES * m_tolerance * all) ? UNSTEADY : apart;
}

/// @return how long a message may be taken to go on as it does, none if it is not steady [ps]
std::optional<uint64_t>
SteadyState::MostPs(size_t flow, size_t first, const FlowAhead& ahead) const
{
    const double error = ErrorPackets(flow, first);
    if (error < 0)
    {
        return std::nullopt;
    }
    const Snapshot& from = m_history[first];
    const Snapshot& to = m_history.back();
    const auto measuredPs = static_cast<double>(to.timePs - from.timePs);
    const double rate = Packets(flow, first) / measuredPs;
    const double budget = ERROR_SHARE * m_tolerance * static_cast<double>(ahead.packets);
    const double end = END_PACKETS + 2 * rate * static_cast<double>(m_firstWindowPs);
    const double left = std::max(0.0, static_cast<double>(ahead.unsent) - end);
    const double sincePs = std::min(measuredPs * budget / error,
                                    (left + static_cast<double>(ahead.skipped)) / rate);
    return static_cast<uint64_t>(std::max(0.0, sincePs - static_cast<double>(m_skippedPs)));
}

std::optional<SteadyState::Jump>
SteadyState::Judge(const std::vector<FlowAhead>& flows,
                   uint64_t mostPs,
                   uint64_t slowestPs) const
{
    for (size_t n = 2 * WINDOWS; n >= WINDOWS; n -= 2)
    {
        if (m_history.size() <= n || m_windowPs < slowestPs)
        {
            continue;
        }
        const size_t first = m_history.size() - 1 - n;
        uint64_t byPs = mostPs;
        bool isSteady = true;
        for (size_t flow = 0; flow < flows.size() && isSteady; flow++)
        {
            const auto most = MostPs(flow, first, flows[flow]);
            isSteady = most.has_value();
            byPs = std::min(byPs, most.value_or(0));
        }
        if (isSteady)
        {
            if (byPs < m_firstWindowPs)
            {
                return std::nullopt;
            }
            return Jump{byPs, m_skippedPs + byPs, &m_history[first], &m_history.back()};
        }
    }
    return std::nullopt;
}

} // namespace fabric
} // namespace ns3

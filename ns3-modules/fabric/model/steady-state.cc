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
constexpr double CHANCE_PACKETS = 4; ///< By which halves differ in what is quite steady
constexpr double ALL_STATES = 0.5;   ///< Share of the tolerance for all states of a message
constexpr double ONE_STATE = 0.5;  ///< Share of what the states before have left of it

} // namespace

double
RateError::After(double times) const
{
    return always * times + 2 * trend * (times + times * times);
}

double
RateError::Times(double packets) const
{
    if (trend == 0)
    {
        return packets / always;
    }
    const double half = (always + 2 * trend) / (4 * trend);
    return std::sqrt(half * half + packets / (2 * trend)) - half;
}

/// Rounded; of what is sent and what arrives in a state that is not yet quite steady, the mean.
uint64_t
SteadyState::Jump::Grown(uint64_t before, uint64_t after) const
{
    const uint64_t overPs = OverPs();
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

/// @return how the rate of a message may be wrong, none if it is not steady
std::optional<RateError>
SteadyState::ErrorOf(size_t flow, size_t first) const
{
    const size_t last = m_history.size() - 1;
    const auto at = [&](size_t i) -> const FlowTotals& { return m_history[i].flows[flow]; };
    const auto arrived = [&](size_t a, size_t b) {
        return static_cast<double>(at(b).arrived - at(a).arrived);
    };
    const double all = arrived(first, last);
    const double mean = all / static_cast<double>(last - first);
    if (mean < FEWEST_PACKETS || at(last).timeouts != at(first).timeouts)
    {
        return std::nullopt;
    }
    double apart = 1; // what is counted in packets is no more exact
    for (size_t i = first; i < last; i++)
    {
        apart = std::max(apart, std::abs(arrived(i, i + 1) - mean));
    }
    const size_t middle = first + (last - first) / 2;
    const double halves = std::abs(arrived(first, middle) - arrived(middle, last));
    const auto before = static_cast<double>(at(first).sent - at(first).arrived);
    const auto after = static_cast<double>(at(last).sent - at(last).arrived);
    apart = std::max({apart, halves, std::abs(after - before)});
    if (apart > std::max(LIKE_PACKETS, LIKE_TOLERANCES * m_tolerance * all))
    {
        return std::nullopt;
    }
    return RateError{apart, std::max(0.0, halves - CHANCE_PACKETS)};
}

/**
 * @return how long a message may be taken to go on as it does, since the last Restart, if its rate
 * may be wrong by this [ps]
 */
double
SteadyState::MostPs(size_t flow, size_t first, const RateError& error, const FlowAhead& ahead) const
{
    const auto measuredPs =
        static_cast<double>(m_history.back().timePs - m_history[first].timePs);
    const double rate = Packets(flow, first) / measuredPs;
    const double mostError = ALL_STATES * m_tolerance * static_cast<double>(ahead.packets);
    const double budget = ONE_STATE * std::max(0.0, mostError - ahead.errorPackets);
    const double end = END_PACKETS + 2 * rate * static_cast<double>(m_firstWindowPs);
    const double left = std::max(0.0, static_cast<double>(ahead.unsent) - end);
    return std::min(measuredPs * error.Times(budget),
                    (left + static_cast<double>(ahead.skipped)) / rate);
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
        auto untilPs = static_cast<double>(m_skippedPs + mostPs);
        std::vector<RateError> errors;
        for (size_t flow = 0; flow < flows.size(); flow++)
        {
            const auto error = ErrorOf(flow, first);
            if (!error)
            {
                break;
            }
            errors.push_back(*error);
            untilPs = std::min(untilPs, MostPs(flow, first, *error, flows[flow]));
        }
        if (errors.size() < flows.size())
        {
            continue;
        }
        const auto sincePs = static_cast<uint64_t>(untilPs);
        if (sincePs < m_skippedPs + m_firstWindowPs)
        {
            return std::nullopt;
        }
        Jump jump{sincePs - m_skippedPs, sincePs, &m_history[first], &m_history.back(), {}};
        for (const RateError& error : errors)
        {
            jump.errorPackets.push_back(error.After(untilPs / static_cast<double>(jump.OverPs())));
        }
        return jump;
    }
    return std::nullopt;
}

} // namespace fabric
} // namespace ns3

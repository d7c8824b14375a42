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

constexpr double FEWEST_PACKETS = 8;  ///< Of each message in a window
constexpr double LIKE_PACKETS = 3;    ///< What differs by no more than this is alike,
constexpr double LIKE_TOLERANCES = 2; ///< or by no more than so many tolerances of all packets
constexpr double CHANCE_PACKETS = 4;  ///< By which halves differ in what is quite steady
constexpr double ALL_STATES = 0.5;    ///< Share of the tolerance for all states of a message
constexpr double ONE_STATE = 0.5; ///< Share of what the states before have left of it; or all of
                                  ///< it for one in which all of a message is skipped
constexpr double SPREADS = 1.5;   ///< Of windows that scatter by chance, by which all of them may
constexpr double CHANCE_SPREADS = 3;    ///< and by which halves may differ, too
constexpr double MOST_TIMES = 1024;     ///< Of what was measured that may be skipped
constexpr double LEAST_TIMES = 1e-3;    ///< Less is nothing
constexpr size_t ONE_OF_MESSAGES = 400; ///< may be wrong by more

} // namespace

/// Chance adds up with the root of what goes by, a rate that is another one with all of it.
double
RateError::After(double times) const
{
    const double both = times + times * times;
    return always * std::sqrt(both) + 2 * trend * both;
}

double
RateError::Times(double packets, double morePackets) const
{
    const auto isSure = [&](double times) { return After(times) <= packets + morePackets * times; };
    if (isSure(MOST_TIMES))
    {
        return MOST_TIMES;
    }
    double sure = 0;
    double unsure = MOST_TIMES;
    while (unsure - sure > sure / 1000 && unsure > LEAST_TIMES)
    {
        const double middle = (sure + unsure) / 2;
        (isSure(middle) ? sure : unsure) = middle;
    }
    return sure;
}

/// Rounded; of what is sent and what arrives in a state that is not yet quite steady, the mean.
uint64_t
SteadyState::Jump::Grown(uint64_t before, uint64_t after) const
{
    const uint64_t overPs = OverPs();
    const auto grown = static_cast<__uint128_t>(after - before) * sincePs;
    return static_cast<uint64_t>((grown + overPs / 2) / overPs);
}

uint64_t
SteadyState::Jump::PacketsOf(size_t flow) const
{
    const double times = static_cast<double>(sincePs) / static_cast<double>(OverPs());
    return static_cast<uint64_t>(std::llround(packets[flow] * times));
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

double
SteadyState::MeasuredPs(size_t first) const
{
    return static_cast<double>(m_history.back().timePs - m_history[first].timePs);
}

/**
 * @return packets of a message in what was measured, if its source sends nothing else and was never
 * idle, to the part of a packet
 *
 * What was begun to be sent then differs from the time that went by by what is left of the packets
 * on the wire at both of its ends, and no source that is idle hides behind that for long.
 */
std::optional<double>
SteadyState::PacketsOfBusy(size_t flow, size_t first) const
{
    const SourceTotals& from = m_history[first].sources[flow];
    const auto packetPs = static_cast<double>(from.packetPs);
    double aheadPs = 0;
    for (size_t i = first; i < m_history.size(); i++)
    {
        const Snapshot& to = m_history[i];
        aheadPs = static_cast<double>(to.sources[flow].sendingPs - from.sendingPs) -
                  static_cast<double>(to.timePs - m_history[first].timePs);
        if (std::abs(aheadPs) >= packetPs)
        {
            return std::nullopt;
        }
    }
    const uint64_t sent = m_history.back().flows[flow].sent - m_history[first].flows[flow].sent;
    const bool isAlone = m_history.back().sources[flow].data - from.data == sent;
    return isAlone ? std::optional(static_cast<double>(sent) - aheadPs / packetPs) : std::nullopt;
}

/// @return packets of a message in what was measured: the mean of those sent and those arrived
double
SteadyState::Packets(size_t flow, size_t first) const
{
    if (const auto packets = PacketsOfBusy(flow, first))
    {
        return *packets;
    }
    const FlowTotals& from = m_history[first].flows[flow];
    const FlowTotals& to = m_history.back().flows[flow];
    return static_cast<double>(to.sent - from.sent + to.arrived - from.arrived) / 2;
}

/// @return how a message has come on, none if it is not steady
std::optional<SteadyState::Course>
SteadyState::CourseOf(size_t flow, size_t first) const
{
    const size_t last = m_history.size() - 1;
    const auto at = [&](size_t i) -> const FlowTotals& { return m_history[i].flows[flow]; };
    const auto arrived = [&](size_t a, size_t b) {
        return static_cast<double>(at(b).arrived - at(a).arrived);
    };
    const double all = arrived(first, last);
    const auto windows = static_cast<double>(last - first);
    const double mean = all / windows;
    if (mean < FEWEST_PACKETS || at(last).timeouts != at(first).timeouts)
    {
        return std::nullopt;
    }
    Course course;
    double squares = 0;
    double slope = 0;
    for (size_t i = first; i < last; i++)
    {
        const double off = arrived(i, i + 1) - mean;
        course.apart = std::max(course.apart, std::abs(off));
        squares += off * off;
        slope += off * (static_cast<double>(i - first) - (windows - 1) / 2);
    }
    const double steps = windows * (windows * windows - 1) / 12; // sum of squares of 0 to n - 1
    course.variance = std::max(0.0, squares - slope * slope / steps) / (windows - 2);
    const size_t middle = first + (last - first) / 2;
    course.halves = std::abs(arrived(first, middle) - arrived(middle, last));
    const auto before = static_cast<double>(at(first).sent - at(first).arrived);
    const auto after = static_cast<double>(at(last).sent - at(last).arrived);
    course.queued = std::abs(after - before);
    course.isBusy = PacketsOfBusy(flow, first).has_value();
    if (std::max({course.apart, course.halves, course.queued}) >
        std::max(LIKE_PACKETS, LIKE_TOLERANCES * m_tolerance * all))
    {
        return std::nullopt;
    }
    return course;
}

/**
 * @return how the rates of messages may be wrong; empty if one of them is not steady
 *
 * What halves differ by is a trend if it is more than windows scatter by. A few windows of one
 * message tell little of that, so half of it is what messages usually scatter by: their median,
 * which in so few windows is less than their mean (Wilson and Hilferty, of chi-squared).
 */
std::vector<RateError>
SteadyState::ErrorsOf(size_t flows, size_t first) const
{
    std::vector<Course> courses;
    std::vector<double> variances;
    for (size_t flow = 0; flow < flows; flow++)
    {
        const auto course = CourseOf(flow, first);
        if (!course)
        {
            return {};
        }
        courses.push_back(*course);
        variances.push_back(course->variance);
    }
    if (courses.empty())
    {
        return {};
    }
    const auto windows = static_cast<double>(m_history.size() - 1 - first);
    const auto middle = variances.begin() + flows / 2;
    std::nth_element(variances.begin(), middle, variances.end());
    const double usual = *middle / std::pow(1 - 2 / (9 * (windows - 2)), 3);
    std::vector<RateError> errors;
    for (const Course& course : courses)
    {
        const double spread = std::sqrt(windows * (usual + course.variance) / 2);
        const double chance = std::max(CHANCE_PACKETS, CHANCE_SPREADS * spread);
        const double always =
            course.isBusy
                ? std::max(1.0, course.queued / 2)
                : std::max({course.apart, course.halves, course.queued / 2, SPREADS * spread});
        errors.push_back({always, std::max(0.0, course.halves - chance)});
    }
    return errors;
}

/**
 * @return how long a message may be taken to go on as it does, since the last Restart, if its rate
 * may be wrong by this [ps]
 *
 * A state may use up a part of what is left of the tolerance, and more of it the more of the
 * message it skips: after one that skips the rest there is no other.
 */
double
SteadyState::SurePs(size_t flow, size_t first, const RateError& error, const FlowAhead& ahead) const
{
    const double mostError = ALL_STATES * m_tolerance * static_cast<double>(ahead.packets);
    const double budget = std::max(0.0, mostError - ahead.errorPackets);
    const double share = Packets(flow, first) / static_cast<double>(ahead.unsent + ahead.skipped);
    return MeasuredPs(first) * error.Times(ONE_STATE * budget, (1 - ONE_STATE) * budget * share);
}

/// @return time from the last Restart until a message is near its end [ps]
double
SteadyState::LeftPs(size_t flow, size_t first, const FlowAhead& ahead) const
{
    const double rate = Packets(flow, first) / MeasuredPs(first);
    const double end = END_PACKETS + 2 * rate * static_cast<double>(m_firstWindowPs);
    const double left = std::max(0.0, static_cast<double>(ahead.unsent) - end);
    return (left + static_cast<double>(ahead.skipped)) / rate;
}

std::optional<SteadyState::Jump>
SteadyState::Judge(const std::vector<FlowAhead>& flows, uint64_t mostPs, uint64_t slowestPs) const
{
    for (size_t n = 2 * WINDOWS; n >= WINDOWS; n -= 2)
    {
        if (m_history.size() <= n || m_windowPs < slowestPs)
        {
            continue;
        }
        const size_t first = m_history.size() - 1 - n;
        auto untilPs = static_cast<double>(m_skippedPs + mostPs);
        const std::vector<RateError> errors = ErrorsOf(flows.size(), first);
        if (errors.size() < flows.size())
        {
            continue;
        }
        std::vector<double> surePs;
        for (size_t flow = 0; flow < flows.size(); flow++)
        {
            surePs.push_back(SurePs(flow, first, errors[flow], flows[flow]));
            untilPs = std::min(untilPs, LeftPs(flow, first, flows[flow]));
        }
        if (!surePs.empty())
        {
            const auto least = surePs.begin() + flows.size() / ONE_OF_MESSAGES;
            std::nth_element(surePs.begin(), least, surePs.end());
            untilPs = std::min(untilPs, *least);
        }
        const auto sincePs = static_cast<uint64_t>(untilPs);
        if (sincePs < m_skippedPs + m_firstWindowPs)
        {
            return std::nullopt;
        }
        Jump jump{sincePs - m_skippedPs, sincePs, &m_history[first], &m_history.back(), {}, {}};
        for (size_t flow = 0; flow < flows.size(); flow++)
        {
            jump.packets.push_back(Packets(flow, first));
            jump.errorPackets.push_back(
                errors[flow].After(untilPs / static_cast<double>(jump.OverPs())));
        }
        return jump;
    }
    return std::nullopt;
}

} // namespace fabric
} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_STEADY_STATE_H
#define FABRIC_STEADY_STATE_H

#include "ns3/clocks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Totals of a message that grow while it is under way.
struct FlowTotals
{
    uint64_t sent{0};    ///< First copies [packet]
    uint64_t arrived{0}; ///< Of these, as its source knows [packet]
    uint64_t timeouts{0};

    /// What results count beside these.
    enum Count : size_t
    {
        COPIES,
        TRIMMED,
        MARKED,
        NAKS,
        NUM_COUNTS,
    };

    std::array<uint64_t, NUM_COUNTS> counts{};
};

/// Totals of an egress and its ingress that results have, in the order of PortTotal.
using PortTotals = std::array<uint64_t, 12>;

/// The port by which a message leaves its source.
struct SourceTotals
{
    uint64_t packetPs{0};  ///< What a full packet of the message takes there, 0: of several [ps]
    uint64_t sendingPs{0}; ///< What all takes that was begun to be sent there [ps]
    uint64_t data{0};      ///< Of that, frames of data
};

/// All totals at one time.
struct Snapshot
{
    EnginePs timePs;
    std::vector<FlowTotals> flows;     ///< Of the same messages in the same order in one history
    std::vector<SourceTotals> sources; ///< Of each of these
    std::vector<PortTotals> ports;
    uint64_t draws{0}; ///< Random numbers of queues
};

/// A message as it goes on, for as long as nothing else happens.
struct FlowAhead
{
    uint64_t packets;    ///< Of the whole message
    uint64_t unsent;     ///< First copies that are still to be sent [packet]
    uint64_t skipped;    ///< Since the last Restart [packet]
    double errorPackets; ///< What was skipped before that may be wrong by so many [packet]
};

/// How a rate that was measured may be wrong, in packets of the time for which it was [packet]
struct RateError
{
    double always; ///< It is another one
    double trend;  ///< It goes on changing, from half to half

    double After(double times) const; ///< Packets that are wrong after so many such times
    /// @return such times until more are wrong than so many, and so many for each of them
    double Times(double packets, double morePackets) const;
};

/**
 * @brief Whether a network is in a steady state, and for how long that may be believed.
 *
 * It is told totals at equal distances. In a steady state every message has the same count of
 * arrivals in each of several windows, and as much of it is under way at their end as at their
 * beginning. By how much that is not so, between windows, halves, or beginning and end, is taken
 * for the error of its rate, at least a packet, and what halves differ by, but for chance, for a
 * trend that goes on. What a source sends that is never idle is known without counting, and how
 * its arrivals scatter does not add up. So long may be skipped that what may be wrong is half of
 * what earlier states have left of half the tolerance of every message.
 *
 * Windows become longer as long as nothing changes, so rates become better. A jump goes to where
 * the messages would be by the rates as they are known then, whatever was thought at earlier jumps.
 */
class SteadyState
{
  public:
    /// Windows that must be alike; twice as many are kept.
    static constexpr size_t WINDOWS = 4;

    /// @param tolerance of the completion time of a message [1]
    explicit SteadyState(double tolerance);

    void Restart(uint64_t windowPs); ///< Something has changed: forget all [ps]
    void Skipped(uint64_t byPs);     ///< A jump was made [ps]
    void Add(Snapshot snapshot);     ///< Totals one window after the last

    uint64_t WindowPs() const ///< Between two snapshots [ps]
    {
        return m_windowPs;
    }

    /// What may be skipped.
    struct Jump
    {
        uint64_t byPs;        ///< [ps]
        uint64_t sincePs;     ///< All that was skipped since the last Restart, with this [ps]
        const Snapshot* from; ///< Rates are those from here
        const Snapshot* to;   ///< to here
        std::vector<double> packets;      ///< Of each message, in what was measured
        std::vector<double> errorPackets; ///< Of each message, of all since the last Restart

        uint64_t OverPs() const ///< For which rates were measured [ps]
        {
            return to->timePs - from->timePs;
        }

        uint64_t PacketsOf(size_t flow) const; ///< In all that was skipped since the last Restart
        /// @return what a total has grown by in all that was skipped since the last Restart
        uint64_t Grown(uint64_t before, uint64_t after) const;
    };

    /**
     * @param flows of the snapshots, in their order
     * @param mostPs until something else happens [ps]
     * @param slowestPs longest clock that decides rates: a window must hold one of its turns [ps]
     * @return none if the state is not steady, or nothing worth while may be skipped
     */
    std::optional<Jump> Judge(const std::vector<FlowAhead>& flows,
                              uint64_t mostPs,
                              uint64_t slowestPs) const;

    /// Packets of the end of a message that are never skipped, beside those of two first windows.
    static constexpr uint64_t END_PACKETS = 16;

  private:
    /// How a message came on in what was measured [packet]
    struct Course
    {
        double apart{1};    ///< What a window has more or less than their mean; counts are whole
        double halves{0};   ///< What one half has more than the other
        double queued{0};   ///< More under way at the end than at the beginning, or less
        double variance{0}; ///< Of windows about a line [packet^2]
        bool isBusy{false}; ///< Its source has sent nothing else and was never idle
    };

    std::optional<double> PacketsOfBusy(size_t flow, size_t first) const;
    double Packets(size_t flow, size_t first) const;
    std::optional<Course> CourseOf(size_t flow, size_t first) const;
    std::vector<RateError> ErrorsOf(size_t flows, size_t first) const;
    double MeasuredPs(size_t first) const;
    double SurePs(size_t flow, size_t first, const RateError& error, const FlowAhead& ahead) const;
    double LeftPs(size_t flow, size_t first, const FlowAhead& ahead) const;

    double m_tolerance;
    uint64_t m_firstWindowPs{0};
    uint64_t m_windowPs{0};
    uint64_t m_skippedPs{0}; ///< Since the last Restart [ps]
    std::vector<Snapshot> m_history;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_STEADY_STATE_H

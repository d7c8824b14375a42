// SPDX-License-Identifier: GPL-2.0-only

#ifndef FALCON_FLOW_H
#define FALCON_FLOW_H

#include <cstdint>

/**
 * @defgroup falcon Falcon
 */

namespace ns3
{

/// What all flows of a FalconTransport have in common.
struct FalconRules
{
    double baseTargetPs{0};     ///< "fabric_base_delay" [ps]
    double hopTargetPs{0};      ///< "topo_scaling_per_hop" [ps]
    double scalingRangePs{0};   ///< "max_flow_scaling" [ps]
    double increasePackets{1};  ///< "fabric_additive_increment_factor" [packet]
    double beta{0.8};           ///< "fabric_multiplicative_decrease_factor" [1]
    double mostDecrease{0.5};   ///< "max_fabric_multiplicative_decrease" [1]
    double leastPackets{0.01};  ///< "min_fabric_congestion_window" [packet]
    double mostPackets{256};    ///< "max_fabric_congestion_window" [packet]
    uint32_t resetTimeouts{3};  ///< "retransmit_limit" [1]
    uint32_t repathRounds{5};   ///< "plb_attempt_threshold", 0: never another path [1]
    double congestedShare{0.5}; ///< "plb_congestion_threshold" [1]
    double rackShare{0.25};     ///< "rack_time_window_rtt_factor" [1]

    /// @return delay that a window of so many packets keeps to, over so many links [ps]
    double TargetPs(double windowPackets, uint32_t links) const;
};

/// What an answer says of the flow of its packet.
struct FalconAck
{
    uint32_t packets; ///< That it is the first to report
    uint64_t sentPs;  ///< When its packet left, "T1" [ps]
    uint64_t nowPs;   ///< [ps]
    uint32_t links;   ///< On the way
    double roundEnds; ///< Answered packets that end a round of PLB [packet]
};

/**
 * @ingroup falcon
 * @brief One flow of a message: the window of its path, when it is congested, and what is late.
 *
 * Its fabric window ("fcwnd") is that of Swift: below the target each answer adds its packets over
 * the window; above it the window shrinks by the share of the delay that is beyond the target, at
 * most once per round trip. A round of PLB is a window of answered packets; after `repathRounds`
 * congested ones in a row the flow is to take another path. A packet that was sent before one that
 * has arrived is late once the round trip of that one and a quarter of the smoothed one are over
 * (RACK).
 *
 * **Source** isekai, Google's simulator of Falcon, `swift.h` and `rack_retransmission_policy.cc`,
 * whose names the fields above have; Swift: SIGCOMM 2020, section 3.1; PLB: SIGCOMM 2022, section
 * 3. RACK has one state for each flow here, and one for a connection there; the round trip begins
 * with its first sample and not with 25 us.
 */
class FalconFlow
{
  public:
    explicit FalconFlow(double packets = 1)
        : m_packets(packets)
    {
    }

    /// @return whether it is to take another path
    bool OnAck(const FalconRules& rules, const FalconAck& ack);
    void OnTimeout(const FalconRules& rules, uint64_t nowPs);

    double Packets() const ///< Window, may be below 1 [packet]
    {
        return m_packets;
    }

    uint64_t SmoothedPs() const ///< Round trip, 0 before the first answer [ps]
    {
        return m_smoothedPs;
    }

    uint32_t Timeouts() const ///< In a row
    {
        return m_timeouts;
    }

    /// @return when a packet sent at that time is late, NEVER: nothing sent later arrived [ps]
    uint64_t LatePs(uint64_t sentPs) const
    {
        return m_smoothedPs > 0 && sentPs <= m_latestPs ? sentPs + m_waitPs : NEVER;
    }

    static constexpr uint64_t NEVER = UINT64_MAX;

  private:
    bool Repaths(const FalconRules& rules, const FalconAck& ack, bool isCongested);
    void Decrease(const FalconRules& rules, double factor, uint64_t rttPs, uint64_t nowPs);

    double m_packets;
    uint64_t m_smoothedPs{0};
    uint64_t m_decreasePs{0};   ///< When the window was last cut, "fabric_window_time_marker" [ps]
    uint64_t m_latestPs{0};     ///< When the latest that has arrived was sent, "xmit_ts" [ps]
    uint64_t m_waitPs{0};       ///< From the sending of a packet until it is late, "rack.rto" [ps]
    uint32_t m_timeouts{0};     ///< In a row
    uint32_t m_roundPackets{0}; ///< Answered in this round of PLB
    uint32_t m_congestedPackets{0}; ///< Of these, with a delay beyond the target
    uint32_t m_congestedRounds{0};  ///< In a row
};

} // namespace ns3

#endif // FALCON_FLOW_H

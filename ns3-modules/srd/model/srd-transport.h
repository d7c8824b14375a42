// SPDX-License-Identifier: GPL-2.0-only

#ifndef SRD_TRANSPORT_H
#define SRD_TRANSPORT_H

#include "srd-limit.h"

#include "ns3/message-transport.h"
#include "ns3/round-trip-estimator.h"

#include <optional>
#include <vector>

namespace ns3
{

/// The last copy of a packet, as its source knows it.
struct SrdSent
{
    uint64_t ps{0};   ///< When it left [ps]
    uint32_t path{0}; ///< By which
};

/// One of the paths over which a message is sprayed.
struct SrdPath
{
    std::optional<uint16_t> entropy; ///< None: that of the next packet
    uint64_t rttPs{0};               ///< Smoothed [ps]
    uint64_t sentPs{0};              ///< When its last packet left [ps]
    uint64_t heardPs{0};             ///< When the last one that was answered left [ps]
    uint32_t answers{0};             ///< Since it has this entropy
    uint32_t round{0};               ///< Of the last answer
    bool isSlow{false};              ///< Then its round trip was up
};

/// State of an SrdTransport's message at its source.
struct SrdOutbound : fabric::Outbound
{
    std::vector<SrdPath> paths;
    fabric::PacketRing<SrdSent> sent; ///< By packet
    SrdLimit limit;
    fabric::RttEstimator rtt;
    uint64_t baseRttPs{0};            ///< Unloaded round trip [ps]
    uint32_t next{0};                 ///< Path whose turn it is
    uint32_t round{1};                ///< Of the limit
    uint32_t seenPaths{0};            ///< Answered in this round
    uint32_t slowPaths{0};            ///< Of these, with a round trip that is up
    uint32_t misses{0};               ///< Timeouts since something new was heard
    uint64_t missedPs{0};             ///< When the last of them was [ps]
    uint64_t lastSentPs{0};           ///< When it has last sent [ps]
    uint32_t answeredPath{0};         ///< Of the last answer
    uint64_t answeredPs{0};           ///< When its packet left [ps]
    uint64_t duePs{fabric::NEVER_PS}; ///< No packet times out before [ps]
};

/**
 * @ingroup srd
 * @brief A message sprayed over many paths, kept to a rate and a limit of what is in flight.
 *
 * Packets take the paths in turn, but for those that have not answered their last packet for two
 * round trips. A packet that was not answered in time is sent again by another path,
 * and the one that it took gets another entropy, as does a path whose round trip is longer than the
 * others'. Rate and limit: SrdLimit. Packets are delivered in any order; nothing is judged by it.
 *
 * **Source** Shalev et al., "A Cloud-Optimized Transport Protocol for Elastic and Scalable HPC",
 * IEEE Micro 40 (6), 2020: as many paths as possible, those avoided that are overloaded as round
 * trips show, losses sent again by another path after microseconds, packets out of order, a rate
 * and an in-flight limit for each connection. 64 paths: the AWS HPC blog, 2022. All else is ours,
 * for it is not published: when a path is overloaded or passed over, timeouts, every number but 64.
 * **Not modelled** Datagrams of several messages on one connection; the messaging layer above;
 * what a path has in flight; an unloaded round trip that has to be learned.
 */
class SrdTransport final : public fabric::MessageTransport<SrdOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        return traits;
    }

  private:
    void Begin(SrdOutbound& out) override;
    bool MaySend(const SrdOutbound& out) const override;
    void Stamp(SrdOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void OnAnswer(SrdOutbound& out, const fabric::Answer& answer) override;
    void OnDeadline(SrdOutbound& out) override;
    uint64_t RtoPs(const fabric::Outbound& out) const override;

    uint32_t Choose(const SrdOutbound& out, uint32_t avoided) const;
    void JudgePath(SrdOutbound& out, uint64_t rttPs);
    uint64_t PacedPs(const SrdOutbound& out) const;
    uint64_t DuePs(const SrdOutbound& out, const SrdSent& sent) const;
    uint64_t JudgeTimeouts(SrdOutbound& out);
    void Await(SrdOutbound& out);

    uint32_t m_paths{0};
    uint32_t m_initialPackets{0};
    double m_mostBdp{0};
    double m_slowShare{0};
    double m_rerouteShare{0};
    double m_tolerance{0};
};

} // namespace ns3

#endif // SRD_TRANSPORT_H

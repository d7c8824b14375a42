// SPDX-License-Identifier: GPL-2.0-only

#ifndef FALCON_TRANSPORT_H
#define FALCON_TRANSPORT_H

#include "falcon-flow.h"
#include "falcon-receiver.h"

#include "ns3/message-transport.h"

#include <optional>
#include <vector>

namespace ns3
{

/// The last copy of a packet, as its source knows it.
struct FalconSent
{
    uint64_t ps{0};        ///< When it left [ps]
    uint32_t flow{0};      ///< By which, for all copies
    uint32_t copies{0};    ///< Sent so far, beside the first
    bool isSettled{false}; ///< It no longer counts as out on its flow
};

/// A flow of a message: one path at a time.
struct FalconPath
{
    FalconFlow flow;
    std::optional<uint16_t> entropy; ///< "flow label", none: that of the next packet
    int64_t out{0};                  ///< Packets sent and not known to have arrived
};

/// State of a FalconTransport's message at its source.
struct FalconOutbound : fabric::Outbound
{
    std::vector<FalconPath> flows;
    fabric::PacketRing<FalconSent> sent; ///< By packet
    FalconNicWindow nic;
    uint32_t settled{0};               ///< All packets below have arrived, and are out no more
    uint32_t chosen{0};                ///< Flow of the last new packet
    uint32_t links{0};                 ///< On the way
    uint64_t baseRttPs{0};             ///< Of its path when nobody else is there [ps]
    uint64_t lastSentPs{0};            ///< When it has last sent [ps]
    uint64_t heardPs{0};               ///< When it has last heard, or probed [ps]
    bool hasProbed{false};             ///< And has heard nothing new since
    uint64_t latePs{fabric::NEVER_PS}; ///< When the next packet is late [ps]
    uint64_t duePs{fabric::NEVER_PS};  ///< No packet times out before [ps]
    FalconSent answered;               ///< The copy of the last answer
    uint32_t level{0};                 ///< Of the memory at the destination
};

/**
 * @ingroup falcon
 * @brief A message over a few flows, each with a window by delay, in a sliding window of packets.
 *
 * A packet may go if it is less than the sum of the flows' windows, and less than the bitmap of the
 * destination, beyond the first one that is missing; a sum below one packet is a pause between
 * packets. A new packet takes the flow with the most open window, in turn among equals; a copy that
 * of the first. Each packet is answered, with its number, the first one that is missing and a
 * bitmap of the 128 behind. A packet is lost when it is late (FalconFlow), when it was overtaken
 * by more than ReorderPackets, or when it was not answered for Rto, or two round trips if they are
 * longer. After a silence the first missing packet is sent again, once, as a probe. A flow takes
 * another path after rounds of congestion (PLB) and after a timeout (PRR).
 *
 * **Source** Falcon: OCP "Falcon Transport Protocol Specification" 0.9; Singhvi et al., "Falcon: A
 * Reliable, Low Latency Hardware Transport", SIGCOMM 2025; rules and constants are those of
 * isekai, Google's simulator (`gen3`, `rue/algorithm/swift.h`). RFC 8985, section 7 (one probe).
 * Wetherall et al., "Improving Network Availability with Protective ReRoute", SIGCOMM 2023: there
 * a timeout leaves the path, in isekai it does not.
 * **Not modelled** Transactions: a message is pushed without a grant and is a connection; answers
 * for several packets; resynchronisation, ordering by sequence numbers of requests, encryption.
 */
class FalconTransport final : public fabric::MessageTransport<FalconOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.targetPs = static_cast<uint64_t>(m_baseTarget.GetPicoSeconds());
        traits.hopTargetPs = static_cast<uint64_t>(m_hopTarget.GetPicoSeconds());
        return traits;
    }

  private:
    static TypeId AddWindows(TypeId tid); ///< Attributes of windows
    static TypeId AddPaths(TypeId tid);   ///< Attributes of paths and losses

    void DoAttach() override;
    void Begin(FalconOutbound& out) override;
    bool MaySend(const FalconOutbound& out) const override;
    void Stamp(FalconOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void JudgeLosses(FalconOutbound& out, fabric::Answer& answer) override;
    void OnAnswer(FalconOutbound& out, const fabric::Answer& answer) override;
    void OnDeadline(FalconOutbound& out) override;
    uint64_t RtoPs(const fabric::Outbound& out) const override;

    void OnPayload(fabric::Inbound& in, fabric::FrameId id, fabric::PortId port, uint32_t) override;
    void OnDelivered(fabric::Inbound& in) override;

    uint32_t Choose(const FalconOutbound& out) const;
    double WindowOf(const FalconOutbound& out) const;
    uint64_t PacedPs(const FalconOutbound& out) const;
    uint64_t ProbePs(const FalconOutbound& out) const;
    uint64_t SmoothedPs(const FalconOutbound& out) const;
    void Settle(FalconOutbound& out, uint32_t packet);
    uint64_t JudgeLate(FalconOutbound& out, uint32_t end, fabric::Answer& answer);
    void Probe(FalconOutbound& out);
    uint64_t DuePs(const FalconOutbound& out, const FalconSent& sent) const;
    uint64_t JudgeTimeouts(FalconOutbound& out);
    void GiveUp(FalconOutbound& out, uint32_t index);
    void Await(FalconOutbound& out);

    /// Call with each packet that is out, and its last copy.
    template <typename Visit>
    static void VisitOut(const FalconOutbound& out, Visit&& visit)
    {
        for (uint32_t packet = out.packets.Base(); packet < out.packets.Next(); packet++)
        {
            if (out.packets.IsInFlight(packet))
            {
                visit(packet, out.sent.Get(packet));
            }
        }
    }

    FalconRules m_rules;
    FalconReceiveBuffer m_buffer; ///< Of this host
    uint32_t m_flows{0};
    uint32_t m_initialPackets{0};
    uint32_t m_mostPackets{0};
    uint32_t m_bitmapPackets{0};
    uint32_t m_repathRounds{0};
    uint32_t m_targetLevel{0};
    uint32_t m_bufferBytes{0};
    uint64_t m_hostRateBps{0};
    bool m_tailLossProbe{false};
    double m_probeRtts{0};
    Time m_leastProbe;
    Time m_baseTarget;
    Time m_hopTarget;
    Time m_scalingRange;
};

} // namespace ns3

#endif // FALCON_TRANSPORT_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOMA_TRANSPORT_H
#define HOMA_TRANSPORT_H

#include "homa-cutoffs.h"

#include "ns3/message-transport.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @defgroup homa Homa
 */

/// State of a Homa message at its source.
struct HomaOutbound : fabric::Outbound
{
    uint32_t unscheduled{0}; ///< Packets that need no grant
    uint32_t granted{0};     ///< Packets below this may go
    uint8_t unscheduledPriority{0};
    uint8_t scheduledPriority{0}; ///< Of the last GRANT
};

/// Packets that had not come when one behind them did.
struct HomaGap
{
    uint32_t from;    ///< First of them
    uint32_t to;      ///< One more than the last
    uint64_t sincePs; ///< When that was, or when they were last asked for [ps]
};

/// State of a Homa message at its destination.
struct HomaInbound : fabric::DrivenInbound
{
    uint32_t src{0};           ///< Dense index of the sending host
    uint32_t ahead{0};         ///< Most packets granted and not received
    uint32_t granted{0};       ///< Packets below this will come
    uint32_t end{0};           ///< With GapInterval: one more than the last that has come
    uint64_t sincePs{0};       ///< Since when nothing came that was expected [ps]
    std::vector<HomaGap> gaps; ///< With GapInterval, in order
};

/**
 * @ingroup homa
 * @brief Homa: short messages blind, the rest as the receiver grants it, the shortest first.
 *
 * A message sends its first RttBytes unscheduled, at the priority of its length by Cutoffs. The
 * receiver keeps as much granted and not received for each of the Overcommitment messages with the
 * fewest bytes left, one per sender, each at a priority of its own among the scheduled ones; the
 * shortest has the highest, and the lowest levels are used first, so that a shorter message that
 * comes later finds one above. Of what is granted, OldestShare goes to the message that began
 * first, if it is not among them, at the highest scheduled priority. A packet is not acknowledged,
 * a message is, once.
 *
 * A receiver to which nothing came of a message for ResendInterval, although something was granted,
 * asks for all that is missing; a source that has sent none of it yet says BUSY. A source that
 * hears nothing at all sends one packet again after Rto. With GapInterval packets that are missing
 * for so long before one that has come are asked for, and again after as long, though others come.
 *
 * **Source** Montazeri et al., "Homa: a receiver-driven low-latency transport protocol using
 * network priorities", SIGCOMM 2018, section 3; draft-ousterhout-homa-00 (draft-0 of the author's
 * repository homa-rfc) for RESEND, BUSY, the choice of scheduled priorities and the oldest message.
 * GapInterval is ours: HomaModule of 2024 and later notes when a gap began, but asks for gaps when
 * nothing comes, as is the default here.
 * **Not modelled** Requests and responses (a message is all there is); cutoffs that receivers learn
 * and send to senders; a part of an unscheduled packet; giving up; a share of the oldest message at
 * its source.
 */
class HomaTransport final : public fabric::MessageTransport<HomaOutbound, HomaInbound>
{
  public:
    static constexpr uint8_t GRANT = FAMILY;      ///< `aux`: packets granted; `packet`: arrived
    static constexpr uint8_t RESEND = FAMILY + 1; ///< `packet` to `aux`: not arrived
    static constexpr uint8_t BUSY = FAMILY + 2;   ///< What was asked for is yet to be sent

    static TypeId GetTypeId();
    void Check() const override;

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.dataPriority = fabric::NUM_PRIORITIES - 1;
        traits.morePriorities = (1U << fabric::NUM_PRIORITIES) - 1;
        traits.variesUrgency = true;
        traits.spreadsOverPorts = true;
        return traits;
    }

    bool UrgentFirst() const override;

  private:
    static TypeId AddResends(TypeId tid);
    void DoAttach() override;

    // ---- source
    void Begin(HomaOutbound& out) override;
    bool MaySend(const HomaOutbound& out) const override;
    uint8_t PriorityOf(const HomaOutbound& out) const override;
    void Stamp(HomaOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void OnControl(HomaOutbound& out, fabric::FrameId control) override;
    void OnTimeout(HomaOutbound& out, fabric::Answer& lost) override;

    void OnGrant(HomaOutbound& out, fabric::FrameId grant);
    void OnResend(HomaOutbound& out, uint32_t from, uint32_t to);

    // ---- destination
    void OnFirst(HomaInbound& in) override;
    void OnPayload(HomaInbound& in,
                   fabric::FrameId data,
                   fabric::PortId port,
                   uint32_t expected) override;
    void OnRequest(HomaInbound& in, fabric::FrameId control, fabric::PortId port) override;
    void OnDelivered(HomaInbound& in) override;
    void OnHostTimer() override;

    void Grant();
    bool GrantRound();
    void GrantOldest();
    void SendGrant(HomaInbound& in, uint32_t packets, uint8_t priority);
    void ArmTimer(uint64_t duePs);
    uint64_t DuePs(const HomaInbound& in) const;
    void NoteGap(HomaInbound& in, uint32_t packet);
    uint64_t AskForGaps(HomaInbound& in);
    void AskAgain(const HomaInbound& in, uint32_t from, uint32_t end);

    fabric::FlowOrder m_toGrant{fabric::FlowOrder::By::LEAST_REMAINING};
    std::vector<HomaInbound*> m_granted; ///< Of one round of grants, the shortest first
    std::vector<uint32_t> m_open;        ///< Slots of messages that have begun to come, in order
    HomaCutoffs m_cutoffs;
    std::string m_cutoffText;
    uint64_t m_rttBytes{0};
    double m_oldestShare{0};
    double m_oldestPackets{0}; ///< That the oldest message may be granted
    uint64_t m_resendPs{0};
    uint64_t m_gapPs{0};
    uint64_t m_timerPs{fabric::NEVER_PS}; ///< When the host's timer runs out [ps]
    Time m_resendInterval;
    Time m_gapInterval;
    uint32_t m_overcommitment{0};
    uint32_t m_grantBytes{0};
    uint8_t m_scheduledLevels{0};
};

} // namespace ns3

#endif // HOMA_TRANSPORT_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef EQDS_TRANSPORT_H
#define EQDS_TRANSPORT_H

#include "ns3/pulled-transport.h"

#include <array>

namespace ns3
{

/**
 * @defgroup eqds EQDS
 */

/// State of an EQDS message at its source.
struct EqdsOutbound : fabric::Outbound
{
    int64_t windowBytes{0};      ///< Most that is asked for ahead [byte]
    int64_t creditBytes{0};      ///< Given and not spent; the last packet may overdraw it [byte]
    int64_t speculativeBytes{0}; ///< To spend where no credit is left [byte]
    int64_t pulledBytes{0};      ///< Credit ever given [byte]
    int64_t backlogBytes{0};     ///< Frames that are yet to be sent, also again [byte]
};

/// State of an EQDS message at its destination.
struct EqdsInbound : fabric::DrivenInbound
{
    uint64_t targetQuanta{0}; ///< Credit that the source wants, ever
    uint64_t pulledQuanta{0}; ///< Credit that it was given, ever; a PULL says it in `aux`
    uint64_t slowQuanta{0};   ///< Slow credit that it may be given beyond what it wants
    int64_t repairBytes{0};   ///< Trimmed and not yet credited again [byte]
};

/**
 * @ingroup eqds
 * @brief EQDS: the receiver hands out credit for its links, a sender may begin without.
 *
 * A message sends one window on speculative credit, at a priority of its own, unless a packet is
 * trimmed before it is spent. Each packet says up to which pull number the source wants credit:
 * what it has yet to send, but no more than a window ahead. The receiver gives credit in PULLs of
 * CreditQuanta quanta, in turns: first to messages that have lost payload, then to those that ask,
 * and while none does, up to a window more than was asked for (slow credit).
 *
 * **Source** Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI
 * 2022, sections 3 and 4; the turns and sizes of credit are those of the authors' simulator.
 * **Not modelled** Answers for several packets at once: each packet is acknowledged; requests (RTS)
 * without data; the tunnel for other transports.
 */
class EqdsTransport final : public fabric::PulledTransport<EqdsOutbound, EqdsInbound>
{
  public:
    static constexpr uint32_t QUANTUM_BYTES = 512; ///< [byte]

    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = PulledTransport::GetTraits();
        traits.morePriorities = 1U << m_speculativePriority;
        traits.variesUrgency = m_speculativePriority != m_priority;
        traits.mayShorten = true;
        return traits;
    }

  private:
    void DoAttach() override;

    // ---- source
    uint64_t RtoPs(const fabric::Outbound& out) const override;
    void Begin(EqdsOutbound& out) override;
    bool MaySend(const EqdsOutbound& out) const override;
    uint8_t PriorityOf(const EqdsOutbound& out) const override;
    void Stamp(EqdsOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void JudgeLosses(EqdsOutbound& out, fabric::Answer& answer) override;
    bool IsProgress(const fabric::Answer& answer) const override;
    void OnControl(EqdsOutbound& out, fabric::FrameId control) override;
    void OnBounced(EqdsOutbound& out) override;
    void OnTimeout(EqdsOutbound& out, fabric::Answer& lost) override;
    void OnShortened(EqdsOutbound& out, uint32_t packets) override;
    void OnStarved(EqdsOutbound& out) override;

    uint32_t FullFrameBytes() const;

    // ---- destination
    /// What a message is to have credit for, the most urgent first.
    enum Want : size_t
    {
        REPAIR, ///< It has lost payload
        DEMAND, ///< It asks for more
        SLOW,   ///< Nobody else wants any
        NUM_WANTS,
    };

    void OnFirst(EqdsInbound& in) override;
    void OnHeard(EqdsInbound& in, fabric::FrameId data) override;
    EqdsInbound* TakePull() override;
    uint64_t NextPullPs() const override;
    void StampPull(EqdsInbound& in, fabric::FrameId pull) override;

    static bool Wants(const EqdsInbound& in, size_t want);
    void List(const EqdsInbound& in);
    uint32_t NextInTurn();

    std::array<fabric::FlowOrder, NUM_WANTS> m_waiting;
    bool m_waits{false}; ///< Somebody may be in one of them
    fabric::Pacer m_pacer;
    uint64_t m_creditBps{0}; ///< Rate of frames, without framing [bit/s]
    uint32_t m_windowPackets{0};
    uint32_t m_creditQuanta{0};
    bool m_slowCredit{false};
    double m_creditShare{0};
    Time m_creditTimeout;
    uint8_t m_speculativePriority{0};
};

} // namespace ns3

#endif // EQDS_TRANSPORT_H

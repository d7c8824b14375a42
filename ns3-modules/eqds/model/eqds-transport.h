// SPDX-License-Identifier: GPL-2.0-only

#ifndef EQDS_TRANSPORT_H
#define EQDS_TRANSPORT_H

#include "ns3/message-transport.h"

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
struct EqdsInbound : fabric::Inbound
{
    uint64_t targetQuanta{0};             ///< Credit that the source wants, ever
    uint64_t pulledQuanta{0};             ///< Credit that it was given, ever
    int64_t repairBytes{0};               ///< Trimmed and not yet credited again [byte]
    fabric::PortId port{fabric::NO_PORT}; ///< By which the last packet came
    uint16_t entropy{0};                  ///< Of the last packet
};

/**
 * @ingroup eqds
 * @brief EQDS: the receiver hands out credit for its links, a sender may begin without.
 *
 * A message sends one window on speculative credit, at a priority of its own, unless a packet is
 * trimmed before it is spent. Each packet says up to which pull number the source wants credit:
 * what it has yet to send, but no more than a window ahead. The receiver gives credit in PULLs of
 * CreditQuanta quanta, in turns: first to messages that have lost payload, then to the others.
 *
 * **Source** Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI
 * 2022, sections 3 and 4; the turns and sizes of credit are those of the authors' simulator.
 * **Not modelled** Answers for several packets at once: each packet is acknowledged; requests (RTS)
 * without data; slow credit beyond what was asked for; the tunnel for other transports.
 */
class EqdsTransport final : public fabric::MessageTransport<EqdsOutbound, EqdsInbound>
{
  public:
    static constexpr uint8_t PULL = FAMILY;          ///< `aux`: credit so far [quantum]
    static constexpr uint32_t QUANTUM_BYTES = 512;   ///< [byte]

    static TypeId GetTypeId();
    bool VariesUrgency() const override;
    bool MayShorten() const override;

  private:
    void DoAttach() override;
    bool SpreadsOverPorts() const override;

    // ---- source
    void Begin(EqdsOutbound& out) override;
    bool MaySend(const EqdsOutbound& out) const override;
    uint8_t PriorityOf(const EqdsOutbound& out) const override;
    void Stamp(EqdsOutbound& out, fabric::FrameId data) override;
    void JudgeLosses(EqdsOutbound& out, fabric::Answer& answer) override;
    bool IsProgress(const fabric::Answer& answer) const override;
    void OnAnswer(EqdsOutbound& out, const fabric::Answer& answer) override;
    void OnControl(EqdsOutbound& out, fabric::FrameId control) override;
    void OnBounced(EqdsOutbound& out) override;
    void OnTimeout(EqdsOutbound& out, fabric::Answer& lost) override;
    void OnShortened(EqdsOutbound& out, uint32_t packets) override;
    void OnDeadline(EqdsOutbound& out) override;

    uint32_t FullFrameBytes() const;

    // ---- destination
    void OnPayload(EqdsInbound& in,
                   fabric::FrameId data,
                   fabric::PortId port,
                   uint32_t expected) override;
    void OnTrimmed(EqdsInbound& in, fabric::FrameId header, fabric::PortId port) override;
    void OnHostTimer() override;

    void Note(EqdsInbound& in, fabric::FrameId data, fabric::PortId port);
    void List(const EqdsInbound& in);
    uint32_t NextInTurn();
    void SendPulls();

    fabric::FlowOrder m_repairing; ///< Messages that have lost payload
    fabric::FlowOrder m_wanting;   ///< The others that want credit
    fabric::Pacer m_pacer;
    uint64_t m_creditBps{0};       ///< Rate of frames, without framing [bit/s]
    uint32_t m_windowPackets{0};
    uint32_t m_creditQuanta{0};
    uint32_t m_pullBytes{0};
    double m_creditShare{0};
    uint8_t m_speculativePriority{0};
};

} // namespace ns3

#endif // EQDS_TRANSPORT_H

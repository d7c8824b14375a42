// SPDX-License-Identifier: GPL-2.0-only

#ifndef AIMD_TRANSPORT_H
#define AIMD_TRANSPORT_H

#include "ns3/message-transport.h"

namespace ns3
{

/// State of a message at its source.
struct AimdOutbound : fabric::Outbound
{
    uint32_t windowPackets{0}; ///< Most packets in flight
    uint32_t answered{0};      ///< Answers since the window was changed
    uint32_t cutEnd{0};        ///< Packets below this were sent before the window was cut
};

/**
 * @ingroup aimd
 * @brief A window that grows by one packet per round trip and is cut when a mark or a loss is seen.
 *
 * **Source** Additive increase, multiplicative decrease (Chiu and Jain, Computer Networks and ISDN
 * Systems 17, 1989, section 3.2); one reaction to ECN per window (RFC 3168 section 6.1.2).
 * **Not modelled** Slow start, pacing.
 */
class AimdTransport final : public fabric::MessageTransport<AimdOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

  private:
    void Begin(AimdOutbound& out) override;
    bool MaySend(const AimdOutbound& out) const override;
    void OnAnswer(AimdOutbound& out, const fabric::Answer& answer) override;
    void OnTimeout(AimdOutbound& out, fabric::Answer& lost) override;

    void Shrink(AimdOutbound& out, double windowPackets);

    uint32_t m_initialPackets{0};
    double m_decrease{0};
};

} // namespace ns3

#endif // AIMD_TRANSPORT_H

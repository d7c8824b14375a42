// SPDX-License-Identifier: GPL-2.0-only

#ifndef AIMD_TRANSPORT_H
#define AIMD_TRANSPORT_H

#include "ns3/flow-slots.h"
#include "ns3/packet-window.h"
#include "ns3/path-selector.h"
#include "ns3/transport.h"

#include "ns3/nstime.h"

#include <set>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup aimd
 * @brief A window that grows by one packet per round trip and is cut when a mark or a loss is seen.
 *
 * Source: additive increase, multiplicative decrease (Chiu and Jain, Computer Networks and ISDN
 * Systems 17, 1989, section 3.2); one reaction to ECN per window (RFC 3168 section 6.1.2).
 * Not modelled: slow start, pacing, trimming.
 */
class AimdTransport final : public fabric::Transport
{
  public:
    static TypeId GetTypeId();

    void StartMessage(uint32_t message) override;
    void Receive(fabric::FrameId frame, fabric::PortId port) override;
    fabric::FrameId NextFrame(fabric::PortId port, uint32_t pausedPriorities) override;
    void OnTimer(uint32_t slot) override;
    std::vector<uint32_t> CommonFrameBytes() const override;
    uint8_t DataPriority() const override;
    int32_t SinglePathEntropy(uint32_t message) override;

  private:
    void NotifyConstructionCompleted() override;

    /// A message at its source. Identity: next = arrived + lost + in flight.
    struct Sender
    {
        uint32_t message{0};
        uint32_t packets{0};      ///< Of the message
        uint32_t next{0};         ///< Next packet that was never sent
        uint32_t window{0};       ///< Most packets in flight
        uint32_t acked{0};        ///< Packets acknowledged since the window was changed
        uint32_t cutEnd{0};       ///< Packets below this were sent before the window was cut
        uint32_t judged{0};       ///< Packets below this were already looked at for loss
        uint32_t backoff{0};      ///< Timeouts in a row
        fabric::PortId port{0};   ///< Port of this host that the message leaves by
        std::set<uint32_t> lost;  ///< Packets to send again
        fabric::LazyDeadline timeout;
        fabric::PacketWindow arrived; ///< As far as the sender knows
    };

    uint32_t PacketsOf(uint64_t bytes) const;
    fabric::ReadyList& ReadyAt(fabric::PortId port);
    bool CanSend(const Sender& sender) const;
    void Wake(uint32_t slot);
    fabric::FrameId MakeData(uint32_t slot);
    void ArmTimeout(uint32_t slot);
    bool JudgeLosses(Sender& sender);
    void Adapt(Sender& sender, uint32_t packet, bool congested);
    void OnAck(const fabric::Frame& frame);
    void OnData(fabric::FrameId frame, fabric::PortId port);

    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_ackBytes{0};
    uint32_t m_initialPackets{0};
    double m_decrease{0};
    uint32_t m_reorderPackets{0};
    Time m_rto;
    uint8_t m_priority{0};
    uint8_t m_controlPriority{0};
    std::string m_entropyType;

    Ptr<fabric::PathSelector> m_entropy;
    fabric::FlowSlots<Sender> m_senders;
    fabric::FlowSlots<fabric::PacketWindow> m_receivers;
    std::vector<fabric::ReadyList> m_ready; ///< Per port of this host
};

} // namespace ns3

#endif // AIMD_TRANSPORT_H

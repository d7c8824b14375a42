// SPDX-License-Identifier: GPL-2.0-only

#ifndef SPRAY_TRANSPORT_H
#define SPRAY_TRANSPORT_H

#include "ns3/flow-slots.h"
#include "ns3/packet-window.h"
#include "ns3/path-selector.h"
#include "ns3/transport.h"

#include "ns3/nstime.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup spray
 * @brief Packet spraying at its plainest: a fixed window, one entropy per packet, selective repeat.
 *
 * The sender keeps WindowBdp bandwidth-delay products in flight and asks its path selector for the
 * entropy of every packet. The receiver keeps a bitmap, acknowledges every packet by its number,
 * and takes packets in any order. A packet is taken for lost when one ReorderPackets further on
 * has arrived, or after a timeout.
 *
 * Source: our own; the common part of NDP (SIGCOMM 2017), MP-RDMA (NSDI 2018) and the Ultra
 * Ethernet transport without their congestion control.
 * Not modelled: congestion control, trimming, credits.
 */
class SprayTransport final : public fabric::Transport
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
    fabric::Datagram Describe(const fabric::Frame& frame) const override;

  private:
    void NotifyConstructionCompleted() override;

    /// A message at its source. Identity: next = arrived + lost, not yet sent again + in flight.
    struct Sender
    {
        uint32_t message{0};
        uint32_t packets{0};         ///< Of the message
        uint32_t next{0};            ///< Next packet that was never sent
        uint32_t windowPackets{0};   ///< Most packets in flight
        uint32_t reorderPackets{0};  ///< See ReorderPackets
        uint32_t judged{0};          ///< Packets below this were already looked at for loss
        uint32_t backoff{0};         ///< Timeouts in a row
        size_t resent{0};            ///< Entries of `lost` that were sent again
        std::vector<uint32_t> lost;  ///< Packets to send again, in order of discovery
        fabric::LazyDeadline timeout;
        fabric::PacketWindow arrived; ///< As far as the sender knows
    };

    uint32_t PacketsOf(uint64_t bytes) const;
    bool CanSend(const Sender& sender) const;
    fabric::FrameId MakeData(uint32_t slot, fabric::PortId port);
    void ForgetArrived(Sender& sender);
    void JudgeLosses(Sender& sender);
    void ArmTimeout(uint32_t slot);
    void OnAck(const fabric::Frame& frame);
    void OnData(fabric::FrameId frame, fabric::PortId port);

    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_ackBytes{0};
    double m_windowBdp{0};
    uint32_t m_reorderPackets{0};
    Time m_rto;
    uint8_t m_priority{0};
    uint8_t m_controlPriority{0};
    std::string m_entropyType;

    Ptr<fabric::PathSelector> m_entropy;
    fabric::FlowSlots<Sender> m_senders;
    fabric::FlowSlots<fabric::PacketWindow> m_receivers;
    fabric::ReadyList m_ready;
};

} // namespace ns3

#endif // SPRAY_TRANSPORT_H

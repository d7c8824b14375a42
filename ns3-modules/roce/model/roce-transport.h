// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROCE_TRANSPORT_H
#define ROCE_TRANSPORT_H

#include "ns3/congestion-control.h"
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
 * @ingroup roce
 * @brief RoCEv2 reliable connection: RDMA WRITE of each message over a queue pair of its own.
 *
 * Starts at line rate. Recovery is go-back-N (InfiniBand Architecture Specification 1.4, section
 * 9.7: acknowledgement, NAK of a sequence error once per gap, timeout), or selective repeat
 * (IRN: Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3).
 *
 * Deviations: PSNs do not wrap at 24 bits; a sender never gives up (no retry limit); one message
 * per connection; no receiver-not-ready NAKs; the receiving host takes data at any rate.
 */
class RoceTransport final : public fabric::Transport
{
  public:
    /// How lost packets are sent again.
    enum class Recovery
    {
        GO_BACK_N,
        SELECTIVE_REPEAT,
    };

    static TypeId GetTypeId();

    void StartMessage(uint32_t message) override;
    void Receive(fabric::FrameId frame, fabric::PortId port) override;
    fabric::FrameId NextFrame(fabric::PortId port, uint32_t pausedPriorities) override;
    void OnTimer(uint32_t token) override;
    std::vector<uint32_t> CommonFrameBytes() const override;
    uint8_t DataPriority() const override;
    int32_t SinglePathEntropy(uint32_t message) override;
    fabric::Datagram Describe(const fabric::Frame& frame) const override;

  private:
    static constexpr uint8_t ACK = fabric::frame_kind::CONTROL;
    static constexpr uint8_t NAK = fabric::frame_kind::CONTROL + 1;

    void NotifyConstructionCompleted() override;

    /// A message at its source.
    struct Sender
    {
        uint32_t message{0};
        uint32_t packets{0};        ///< Of the message
        uint32_t unacked{0};        ///< First packet not acknowledged, "snd_una"
        uint32_t next{0};           ///< Next packet to send, "snd_nxt"
        uint32_t highest{0};        ///< One more than the largest packet ever sent
        uint32_t windowPackets{0};  ///< Most packets from unacked to next
        uint32_t backoff{0};        ///< Timeouts in a row
        uint32_t repair{0};         ///< Selective repeat: next hole to look at
        uint32_t repairEnd{0};      ///< Selective repeat: holes below this are lost
        int32_t entropy{-1};        ///< Of a flow that keeps to one path
        fabric::PortId port{0};     ///< Port of this host that the message leaves by
        uint64_t paceUntilPs{0};    ///< No packet before this time [ps]
        fabric::LazyDeadline timeout;
        fabric::LazyDeadline pace;
        fabric::PacketWindow sacked; ///< Selective repeat: packets known to have arrived
        Ptr<fabric::CongestionControl> control;
    };

    /// A message at its destination.
    struct Receiver
    {
        uint32_t message{0};
        uint32_t packets{0};
        uint32_t sinceAck{0};          ///< Packets accepted since the last acknowledgement
        bool nakSent{false};           ///< A NAK for the hole at the base is out
        uint64_t nakPs{0};             ///< When it was sent [ps]
        fabric::PacketWindow received; ///< Its base is the expected PSN
    };

    void DescribeData(const fabric::Frame& frame, fabric::Datagram& datagram) const;
    uint32_t PacketsOf(uint64_t bytes) const;
    uint32_t FrameBytes(const fabric::Message& message, uint32_t packet) const;
    fabric::ReadyList& ReadyOf(const Sender& sender);
    bool CanSend(uint32_t slot);
    uint32_t NextHole(Sender& sender) const;
    uint32_t Window(const Sender& sender) const;
    fabric::FrameId MakeData(uint32_t slot, uint32_t packet);
    void Pace(uint32_t slot, uint32_t frameBytes);
    void Wake(uint32_t slot);
    void ArmTimeout(uint32_t slot);
    void OnTimeout(uint32_t slot);
    void OnAck(const fabric::Frame& frame, uint64_t sentPs);
    void Acknowledge(uint32_t slot, uint32_t cumulative);
    void OnData(fabric::FrameId frame, fabric::PortId port);
    void Answer(fabric::FrameId frame, fabric::PortId port, uint8_t kind, uint32_t cumulative);

    // in order of how often they are needed
    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_rethBytes{0};
    uint32_t m_ackBytes{0};
    uint32_t m_ackInterval{0};
    uint32_t m_reorderPackets{0};
    uint32_t m_rtoLowPackets{0};
    Recovery m_recovery{Recovery::GO_BACK_N};
    uint8_t m_priority{0};
    uint8_t m_controlPriority{0};
    bool m_ecnCapable{true};
    bool m_hasControl{false};
    fabric::FlowSlots<Sender> m_senders;
    fabric::FlowSlots<Receiver> m_receivers;
    std::vector<fabric::ReadyList> m_ready; ///< Per port of this host
    Ptr<fabric::PathSelector> m_entropy;
    Time m_rto;
    Time m_rtoLow;
    Time m_nakInterval;
    uint64_t m_windowBytes{0};
    uint32_t m_maxBackoff{0};
    std::string m_entropyType;
    std::string m_controlType;
};

} // namespace ns3

#endif // ROCE_TRANSPORT_H

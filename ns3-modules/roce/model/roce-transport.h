// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROCE_TRANSPORT_H
#define ROCE_TRANSPORT_H

#include "ns3/message-transport.h"

namespace ns3
{

/**
 * @defgroup roce RDMA over converged Ethernet
 */

/// State of a RoceTransport's message at its source.
struct RoceOutbound : fabric::Outbound
{
    uint32_t windowPackets{0}; ///< Most packets from the first unacknowledged one to the next
    uint16_t rewinds{0};       ///< How often the sender went back, modulo what fits into a frame
    uint32_t retries{0};       ///< Timeouts since the last progress
    bool hasMoved{false};      ///< It has left its first port
    uint64_t resumesPs{0};     ///< By its second port it goes on from then [ps]
};

/// State of a RoceTransport's message at its destination.
struct RoceInbound : fabric::Inbound
{
    uint32_t sinceAck{0};            ///< Packets accepted since the last acknowledgement
    std::optional<uint64_t> nakPs{}; ///< When the hole at the base was last reported [ps]
};

/**
 * @ingroup roce
 * @brief RoCEv2 reliable connection: RDMA WRITE of each message over a queue pair of its own.
 *
 * Starts at line rate. Recovery is go-back-N (InfiniBand Architecture Specification 1.4, section
 * 9.7: acknowledgement, NAK of a sequence error once per gap, timeout), or selective repeat
 * (IRN: Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3). With
 * DirectPlacement the destination takes packets in any order and sends no NAK, as NICs do under
 * adaptive routing (uet-htsim, `roce.cpp`, option `-out_of_order`); a loss costs a timeout.
 *
 * With PortFailover a message that has timed out RetryLimit + 1 times in a row goes on by another
 * port of its host, once, FailoverDelay later: the rule of NCCL 2.30 with
 * NCCL_IB_RESILIENCY_PORT_FAILOVER, off there as here. A work request that ends with an error of
 * its retries is sent by the next device that works, after a probe of what has arrived. NCCL sends
 * again what its queue pair had of the request; here it is what was not acknowledged.
 *
 * Not modelled: PSNs that wrap at 24 bits, a retry limit without PortFailover, several messages on
 * one connection, receiver-not-ready NAKs, a receiving host that is slower than its link.
 */
class RoceTransport final : public fabric::MessageTransport<RoceOutbound, RoceInbound>
{
  public:
    /// How lost packets are sent again.
    enum class Recovery
    {
        GO_BACK_N,
        SELECTIVE_REPEAT,
    };

    static TypeId GetTypeId();
    void Check() const override;

    fabric::Datagram Describe(const fabric::Frame& frame) const override;

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.acceptsOutOfOrder = m_recovery == Recovery::SELECTIVE_REPEAT || m_places;
        traits.reorderPackets = m_places ? 0 : traits.reorderPackets;
        // What is skipped follows the path of the beginning, in order.
        traits.mayShorten = !m_portFailover && !m_places;
        traits.mayRepeat = traits.mayShorten;
        return traits;
    }

  private:
    /// BTH.A: the destination shall acknowledge this packet
    static constexpr uint16_t ACK_REQUEST = fabric::frame_flag::FREE;
    /// Bits in which a packet carries RoceOutbound::rewinds, which its answer returns
    static constexpr uint16_t REWINDS = static_cast<uint16_t>(~(2 * ACK_REQUEST - 1));

    static TypeId AddFailover(TypeId tid);
    void DoAttach() override;
    uint64_t RtoPs(const fabric::Outbound& out) const override;
    uint64_t LeastRtoPs() const override;

    void Begin(RoceOutbound& out) override;
    bool MaySend(const RoceOutbound& out) const override;
    void Stamp(RoceOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void JudgeLosses(RoceOutbound& out, fabric::Answer& answer) override;
    bool IsProgress(const fabric::Answer& answer) const override;
    void OnTimeout(RoceOutbound& out, fabric::Answer& lost) override;
    void OnDeadline(RoceOutbound& out) override;
    void OnPayload(RoceInbound& in,
                   fabric::FrameId data,
                   fabric::PortId port,
                   uint32_t expected) override;
    void OnTrimmed(RoceInbound& in, fabric::FrameId header, fabric::PortId port) override;

    void GoBack(RoceOutbound& out, uint32_t packet);
    bool LeavePort(RoceOutbound& out);
    void FailOver(RoceOutbound& out);
    void ReportGap(RoceInbound& in, fabric::FrameId frame, fabric::PortId port);
    void DescribeData(const fabric::Frame& frame, fabric::Datagram& datagram) const;

    Recovery m_recovery{Recovery::GO_BACK_N};
    bool m_places{false}; ///< Packets are taken in any order
    uint32_t m_rtoLowPackets{0};
    uint64_t m_windowBytes{0};
    uint64_t m_rtoLowPs{0};
    uint64_t m_nakIntervalPs{0};
    uint64_t m_failoverPs{0};
    uint32_t m_retryLimit{0};
    bool m_portFailover{false};
    Time m_rtoLow;
    Time m_nakInterval;
    Time m_failoverDelay;
};

} // namespace ns3

#endif // ROCE_TRANSPORT_H

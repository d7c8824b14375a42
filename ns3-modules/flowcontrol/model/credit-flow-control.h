// SPDX-License-Identifier: GPL-2.0-only

#ifndef CREDIT_FLOW_CONTROL_H
#define CREDIT_FLOW_CONTROL_H

#include "ns3/link-flow-control.h"
#include "ns3/nstime.h"

#include <deque>
#include <vector>

namespace ns3
{

/**
 * @ingroup flowcontrol
 * @brief Credits per virtual lane, as on InfiniBand: who has none does not send.
 *
 * Each end of a link has a buffer of LaneBlocks blocks for each lane; a lane is a priority of that
 * number. A sender counts the blocks that it has sent (FCTBS), a receiver those that have come
 * (ABR), and says in update frames up to which count the other end may send (FCCL): what has come
 * and what is free. The largest frame, of L blocks, may go iff (FCCL - FCTBS - L) modulo the range
 * of the counters is at most half of that.
 *
 * An update goes out when UpdateBlocks more may be sent than was last said, and after
 * UpdateInterval if there is anything new. It takes wire time, waits behind the frame in flight,
 * and carries the FCTBS of its own end: blocks that were lost on the wire come back as credit.
 *
 * **Source**: InfiniBand Architecture Specification 1.4, volume 1, section 7.9.4.
 *
 * **Not modelled**: lane 15 without flow control, tables from service levels to lanes, updates
 * that are lost. Deviations: counters have 14 bits instead of 12, so that more than 2048 blocks
 * can be tried; a lane goes on when the largest frame of the scenario fits, whatever waits;
 * updates are sent for lanes that have anything new, and not for idle ones.
 */
class CreditFlowControl final : public fabric::LinkFlowControl
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::LinkContext& context) override;

    Traits GetTraits() const override
    {
        return {.losslessClasses = (1U << m_numLanes) - 1,
                .numClasses = m_numLanes,
                .watchesSenders = true,
                .maySkip = false};
    }

    bool OnArrival(fabric::PortId ingress,
                   fabric::PortId egress,
                   const fabric::Frame& frame) override;
    void OnDeparture(fabric::PortId ingress, uint8_t lane, uint32_t bytes) override;
    void OnTransmit(fabric::PortId egress, const fabric::Frame& frame) override;
    void OnLinkControl(fabric::PortId port, const fabric::LinkMessage& message) override;
    void OnTimer(fabric::PortId port) override;
    void OnLinkDown(fabric::PortId port) override;
    void OnLinkUp(fabric::PortId port) override;
    PortMemory Memory() const override;
    Account GetAccount(fabric::PortId ingress, uint8_t lane) const override;

  private:
    /// One end of one lane; counts of blocks are modulo COUNTER_RANGE.
    struct alignas(64) Lane
    {
        uint32_t sent{0};       ///< By this end (FCTBS) [block]
        uint32_t limit{0};      ///< Up to which it may send: FCCL of the other end [block]
        uint32_t received{0};   ///< From the other end, lost ones included (ABR) [block]
        uint32_t heldBlocks{0}; ///< Of its buffer
        uint64_t heldBytes{0};  ///< [byte]
        uint64_t peakBytes{0};  ///< Largest value of heldBytes [byte]
        uint32_t saidSent{0};   ///< In the last update [block]
        uint32_t saidLimit{0};  ///< In the last update [block]
    };

    /// What the other end had sent, as its update said: frames before it may wait at a switch.
    struct Report
    {
        uint64_t duePs; ///< When all of them have been seen [ps]
        uint8_t lane;
        uint32_t sent; ///< [block]
    };

    /// A port beside its lanes.
    struct End
    {
        std::deque<Report> reports;
        bool isTimed{false}; ///< A timer is set
    };

    Lane& At(fabric::PortId port, uint32_t lane)
    {
        return m_lanes[size_t{port} * m_numLanes + lane];
    }

    void CheckBlocks(uint32_t mtuBlocks) const;
    void CheckBuffer(uint32_t node) const;
    uint32_t LimitOf(const Lane& lane) const;
    bool MaySend(const Lane& lane) const;
    void HoldOrRelease(fabric::PortId port, uint32_t lane);
    void Settle(fabric::PortId port);
    void SayIfEnough(fabric::PortId port, uint32_t lane);
    void Say(fabric::PortId port, uint32_t lane);
    void SetTimer(fabric::PortId port);

    fabric::LinkContext* m_context{nullptr};
    std::vector<Lane> m_lanes; ///< Per port and lane
    std::vector<End> m_ends;   ///< Per port
    uint32_t m_numLanes{0};
    uint32_t m_laneBlocks{0};
    uint32_t m_updateBlocks{0};
    uint32_t m_updateBytes{0};
    uint32_t m_mtuFrameBytes{0};
    uint32_t m_mtuBlocks{0}; ///< Of the largest frame
    Time m_updateInterval;
    uint64_t m_updatePs{0};
};

} // namespace ns3

#endif // CREDIT_FLOW_CONTROL_H
